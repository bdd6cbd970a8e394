import { run } from './cli/program.js'

/** Exit status of shells for a program that wrote to a closed pipe: 128 plus the number of SIGPIPE. */
const pipeClosed = 141

// `| head` has read enough: that is no failure to report with a stack.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(pipeClosed)
})

// Not awaited: a CommonJS bundle of the command, which tests start, has no top-level await.
void run(process.argv).then((status) => {
  process.exitCode = status
})

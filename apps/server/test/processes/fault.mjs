import { execFileSync } from 'node:child_process'
import { open } from 'node:fs'

// Loaded before a server, so that its process has a fault on request.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('an unexpected error')
  })
})
process.on('SIGWINCH', () => {
  Promise.reject(new Error('an unhandled rejection'))
})
// A call to the system that does not return: the other end of the pipe never comes.
if (process.env.TEST_PIPE !== undefined && process.argv.includes('start')) {
  execFileSync('mkfifo', [process.env.TEST_PIPE])
  open(process.env.TEST_PIPE, 'r', () => {})
}

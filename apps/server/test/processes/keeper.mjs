// Keeps what a run of the tests has outside of its own processes, and ends with the run: however
// that ends, killed or not, the channel to it closes. Then the programs are stopped and the folders
// removed. Handlers of the run itself could not do that where it is killed.
import { spawn } from 'node:child_process'
import { rm, utimes } from 'node:fs/promises'

/** Milliseconds between two signs that a folder is in use; see `keeper.ts`. */
const signOfLife = 60_000
/** Milliseconds that a program has to stop before it is killed. */
const grace = 10_000

const folders = new Set()
const programs = new Set()

process.on('message', ({ folder, start }) => {
  if (folder !== undefined) folders.add(folder)
  if (start !== undefined) run(start)
})

function run({ id, file, args, options }) {
  const tell = (news) => process.connected && process.send({ id, ...news }, () => {})
  const program = spawn(file, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  programs.add(program)
  program.stderr.setEncoding('utf8').on('data', (said) => tell({ said }))
  program.once('error', (error) => {
    programs.delete(program)
    tell({ failed: error.message })
  })
  program.once('close', (status, signal) => {
    programs.delete(program)
    tell({ ended: status ?? signal })
  })
}

async function stop(program) {
  const closed = new Promise((resolve) => program.once('close', resolve))
  const kill = setTimeout(() => program.kill('SIGKILL'), grace)
  program.kill('SIGINT')
  await closed
  clearTimeout(kill)
}

let ending = false
async function end() {
  if (ending) return
  ending = true
  await Promise.all([...programs].map(stop))
  // Again, if a child of a program that was killed still writes.
  const last = { recursive: true, force: true, maxRetries: 10 }
  await Promise.allSettled([...folders].map((folder) => rm(folder, last)))
  process.exit()
}

process.once('disconnect', end)
// The run may have ended before this was loaded.
if (!process.connected) end()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end)
setInterval(() => {
  const now = new Date()
  for (const folder of folders) utimes(folder, now, now).catch(() => {})
}, signOfLife)

// Ends with the benchmark, however that ends, killed or not: the channel to it closes then. What the benchmark has
// started and not stopped is stopped, and its folders are removed. Handlers of the benchmark itself could not do that.
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds that a program has to stop before it is killed. */
const grace = 5000
/** Milliseconds for which a folder is removed again, because programs that end by themselves still write to it. */
const patience = 60_000

/** Ids of programs, each the first of a process group. */
const programs = new Set()
const folders = new Set()

process.on('message', ({ started, ended, folder }) => {
  if (started !== undefined) programs.add(started)
  if (ended !== undefined) programs.delete(ended)
  if (folder !== undefined) folders.add(folder)
})

/** Signals a group; returns whether there is one. */
function signal(program, name) {
  try {
    process.kill(-program, name)
    return true
  } catch {
    return false
  }
}

async function stop(program) {
  const end = performance.now() + grace
  signal(program, 'SIGTERM')
  while (signal(program, 0)) {
    if (performance.now() > end) signal(program, 'SIGKILL')
    await sleep(20)
  }
}

async function remove(folder) {
  const end = performance.now() + patience
  for (;;) {
    try {
      return await rm(folder, { recursive: true, force: true })
    } catch (error) {
      if (performance.now() > end) throw error
      await sleep(100)
    }
  }
}

let isEnding = false
async function end() {
  if (isEnding) return
  isEnding = true
  await Promise.all([...programs].map(stop))
  await Promise.allSettled([...folders].map(remove))
  process.exit()
}

process.once('disconnect', end)
// The benchmark may have ended before this was loaded.
if (!process.connected) end()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, end)

import { closeSync, openSync } from 'node:fs'
import { resolveEntry } from '../../src/platform/workers/worker-entry.js'
import { createWorkerPool } from '../../src/platform/workers/worker-pool.js'
import { startWorkerProcess } from '../../src/platform/workers/worker-process.js'

/** Opens all files that it may, and returns their descriptors. */
function openAll(): number[] {
  const opened: number[] = []
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'))
  } catch {
    return opened
  }
}

/** Starts workers while no more files can be opened, and again when they can: says what became of each. */
const entry = new URL('./limits-worker.mjs', import.meta.url)
const pool = createWorkerPool<{ trouble: string }, { size: number }>({
  entry,
  workers: 1,
  maxQueue: 1,
  timeLimitMs: 600_000,
  memoryLimitMb: 64,
  maxOutputBytes: 1000,
  idleTimeoutMs: 600_000,
  onError: () => {},
})
const run = async () => {
  try {
    return await pool.run({ trouble: 'echo' })
  } catch (error) {
    return String(error)
  }
}
const opened = openAll()
const starved = await run()
const killed = startWorkerProcess(resolveEntry(entry), 64)
killed.kill()
const ended = String(await killed.ended)
for (const descriptor of opened) closeSync(descriptor)
const { size } = Object(await run())
process.stdout.write(JSON.stringify({ starved, ended, size }))

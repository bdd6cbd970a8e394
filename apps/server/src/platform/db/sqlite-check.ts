import { WorkerLimitError } from '../workers/gate.js'
import { createWorkerPool } from '../workers/worker-pool.js'

/** Milliseconds for the check of the structure: a large file is checked in part. */
const timeLimitMs = 8000

/**
 * Reads the structure of a SQLite file without changing it, in a process that can be ended, because SQLite cannot be
 * interrupted.
 *
 * @returns the first fault, if there is one, and whether all of the file was read
 */
export async function checkStructure(
  file: string,
  signal: AbortSignal,
): Promise<{ fault?: string; isComplete: boolean }> {
  await using pool = createWorkerPool<string, { fault?: string }>({
    entry: new URL('./sqlite-check-worker.js', import.meta.url),
    workers: 1,
    maxQueue: 0,
    timeLimitMs,
    memoryLimitMb: 128,
    maxOutputBytes: 64 * 1024,
    idleTimeoutMs: 1000,
    onError: () => {},
  })
  try {
    return { ...(await pool.run(file, { signal })), isComplete: true }
  } catch (error) {
    if (error instanceof WorkerLimitError && error.limit === 'time') return { isComplete: false }
    throw error
  }
}

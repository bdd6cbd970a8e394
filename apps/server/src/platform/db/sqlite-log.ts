import { stat } from 'node:fs/promises'
import type { Log } from '../telemetry/log.js'
import { createThreadPool } from '../workers/thread-pool.js'
import type { SqliteConnection } from './sqlite-connection.js'

/*
 * SQLite moves its log into the file once it has 32 MB, and then writes it from the beginning again: the log keeps
 * that size, also beside a small database.
 */

/** Bytes from which on a log is worth emptying. */
const largeLogBytes = 4 * 1024 * 1024
const timeLimitMs = 10 * 60 * 1000

/** Empties the log that an earlier process left, at a start. If another process uses it, it stays as it is. */
export async function emptyLargeLog(file: string, writer: SqliteConnection): Promise<void> {
  const facts = await stat(`${file}-wal`).catch(() => undefined)
  if (facts !== undefined && facts.size > largeLogBytes) emptyLog(writer)
}

/**
 * Moves the log into the file and empties it, unless another process uses it. SQLite itself does so when the last
 * connection is closed, but only once all of its statements have been collected as garbage.
 */
export function emptyLog(writer: SqliteConnection): void {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // On a full disk, for example: the log stays, and nothing of it is lost.
  }
}

/**
 * Empties the log whenever it is large and was not written to for a while, in a thread of its own: on the event loop,
 * requests would wait for the disk.
 */
export function keepLogSmall(
  file: string,
  idleMs: number,
  log: Log | undefined,
): { stop(): Promise<void> } {
  let emptying: Promise<void> | undefined

  async function emptyIfIdle(): Promise<void> {
    const facts = await stat(`${file}-wal`).catch(() => undefined)
    if (facts === undefined || facts.size <= largeLogBytes) return
    if (Date.now() - facts.mtimeMs < idleMs) return
    await using pool = createThreadPool<string, boolean>({
      entry: new URL('./sqlite-log-worker.js', import.meta.url),
      setup: undefined,
      threads: 1,
      maxQueue: 0,
      timeLimitMs,
      memoryLimitMb: 64,
      onError: () => {},
    })
    await pool.run(file)
  }

  const timer = setInterval(() => {
    emptying ??= emptyIfIdle()
      .catch((err: unknown) => log?.warn({ err }, 'the log of the database cannot be emptied'))
      .finally(() => {
        emptying = undefined
      })
  }, idleMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await emptying
    },
  }
}

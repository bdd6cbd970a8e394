import { close, fdatasync, open } from 'node:fs'
import { promisify } from 'node:util'
import { DatabaseUnavailableError } from './errors.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const syncFile = promisify(fdatasync)

/** Makes the commits of one SQLite file durable beside the event loop. */
export interface LogSync {
  /** To be called after each commit. Resolves once it is durable. */
  committed(): Promise<void>
  /** Resolves once all commits are durable; undefined if they are already. */
  durable(): Promise<void> | undefined
  /** Throws if a sync has failed. */
  requireIntact(): void
}

/**
 * SQLite writes a commit to its log and does not wait for the disk (`synchronous = normal`); this waits for
 * it in the thread pool. Commits that are made meanwhile share the next sync.
 *
 * After a sync that failed, nobody knows what is on the disk: the operating system counts the pages that could
 * not be written as clean, and the next sync would succeed without them. So everything fails until the next start.
 *
 * @param sync waits until everything that was written to the log before the call is on the disk
 */
export function createLogSync(sync: () => Promise<void>): LogSync {
  /** How many commits were made, and how many of them are durable. */
  let made = 0
  let safe = 0
  let running: { upTo: number; done: Promise<void> } | undefined
  let following: Promise<void> | undefined
  let failure: DatabaseUnavailableError | undefined

  async function syncTo(upTo: number): Promise<void> {
    try {
      await sync()
    } catch (cause) {
      failure = new DatabaseUnavailableError(
        'The disk failed to store the log of the database: check the disk, then restart the server.',
        { cause },
      )
      throw failure
    }
    safe = upTo
    running = undefined
  }

  function begin(): Promise<void> {
    following = undefined
    running = { upTo: made, done: syncTo(made) }
    return running.done
  }

  function durable(): Promise<void> | undefined {
    if (safe === made) return undefined
    if (running === undefined) return begin()
    if (running.upTo === made) return running.done
    following ??= running.done.then(begin)
    return following
  }

  return {
    committed() {
      made += 1
      return durable() ?? Promise.resolve()
    },
    durable,
    requireIntact() {
      if (failure !== undefined) throw failure
    },
  }
}

/** A file whose written content can be made durable. */
export interface SyncedFile {
  sync(): Promise<void>
  close(): Promise<void>
}

/** @param path of a file that exists at the first sync, and until it is closed */
export function syncedFile(path: string): SyncedFile {
  let opening: Promise<number> | undefined
  return {
    async sync() {
      // Windows syncs only what is open for writing.
      opening ??= openFile(path, 'r+')
      await syncFile(await opening)
    },
    async close() {
      // The sync that could not open the file has failed with the reason.
      const opened = await opening?.catch(() => undefined)
      if (opened !== undefined) await closeFile(opened)
    },
  }
}

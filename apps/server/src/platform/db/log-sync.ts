import { close, fdatasync, open } from 'node:fs'
import { promisify } from 'node:util'
import { DatabaseUnavailableError } from './errors.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const syncFile = promisify(fdatasync)

/** Makes the commits of one SQLite file durable beside the event loop. Its errors are `DatabaseUnavailableError`. */
export interface LogSync {
  /** To be called after each commit. Resolves once it is durable; rejects if its sync, or one before, failed. */
  committed(): Promise<void>
  /** Resolves or rejects like `committed`, for all commits so far; undefined if they are durable already. */
  durable(): Promise<void> | undefined
  /** Throws if a sync has failed. */
  requireIntact(): void
}

/**
 * SQLite writes a commit to its write-ahead log and does not wait for the disk (`synchronous = normal`). The wait
 * is here, in the thread pool; commits that are made meanwhile share the next sync.
 *
 * After a failed sync it is unknown what is on the disk: the operating system counts the pages that could not be
 * written as clean, and the next sync would succeed without them. So everything fails until the next start.
 *
 * @param sync resolves once everything that was written to the log before the call is on the disk
 */
export function createLogSync(sync: () => Promise<void>): LogSync {
  let commits = 0
  let durableCommits = 0
  /** The sync that runs, and the number of commits that it makes durable. */
  let running: { upTo: number; done: Promise<void> } | undefined
  /** The sync that begins when the running one ends. */
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
    durableCommits = upTo
    running = undefined
  }

  function begin(): Promise<void> {
    following = undefined
    running = { upTo: commits, done: syncTo(commits) }
    return running.done
  }

  function durable(): Promise<void> | undefined {
    if (durableCommits === commits) return undefined
    if (running === undefined) return begin()
    if (running.upTo === commits) return running.done
    following ??= running.done.then(begin)
    return following
  }

  return {
    committed() {
      commits += 1
      return durable() ?? Promise.resolve()
    },
    durable,
    requireIntact() {
      if (failure !== undefined) throw failure
    },
  }
}

/** A file that others write, whose content can be made durable. */
export interface SyncedFile {
  /** Resolves once everything that was written before the call is on the disk. */
  sync(): Promise<void>
  /** Closes the file, if a sync has opened it. */
  close(): Promise<void>
}

/** @param path a file that exists at the first sync, which opens it */
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

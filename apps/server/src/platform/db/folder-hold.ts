import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/** A data folder that this process alone serves, until it lets go or ends in whatever way. */
export interface FolderHold {
  release(): void
}

/**
 * Makes sure that one server at a time works on a folder with a SQLite database: hints about what is
 * new do not leave a process, so listeners and bots of a second one would be told late or never.
 * The lock is the operating system's: nothing stays behind after a crash.
 *
 * @throws Error that tells what to do when another server works on the folder
 */
export function holdFolder(folder: string): FolderHold {
  const lock = new DatabaseSync(join(folder, 'server.lock'), { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = memory')
    lock.exec('begin exclusive')
  } catch (cause) {
    lock.close()
    if (!isBusy(cause)) throw cause
    throw new Error(
      `Another server works on ${folder}: stop that one, or set BOTSTEAD_DATA_DIR to another folder. For several processes on the same data, set DATABASE_URL.`,
      { cause },
    )
  }
  return { release: () => lock.close() }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /locked|busy/i.test(error.message)
}

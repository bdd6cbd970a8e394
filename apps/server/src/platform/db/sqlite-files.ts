import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/** A data folder that this process alone serves, until it lets go or ends in whatever way. */
export interface FolderHold {
  release(): void
}

/**
 * Makes sure that one server at a time works on a folder with a SQLite database: hints about what is
 * new do not leave a process, so a second server would notify its listeners and bots late or never.
 * The lock is the operating system's: nothing stays behind after a crash.
 *
 * @throws Error with what to do when another server uses the folder
 */
export function holdFolder(folder: string): FolderHold {
  const file = join(folder, 'server.lock')
  // SQLite itself would let others read it, and whoever reads it can keep the server from starting.
  closeSync(openSync(file, 'a', 0o600))
  const lock = new DatabaseSync(file, { timeout: 0 })
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

/**
 * Writes what is committed in a SQLite file to `target`, replacing it once the copy is complete and
 * on the disk. Other connections go on reading and writing. Returns `target`.
 */
export function copySqliteFile(file: string, target: string): string {
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  const source = new DatabaseSync(file, { timeout: 5000 })
  try {
    source.prepare('vacuum into ?').run(partial)
  } finally {
    source.close()
  }
  // It has the conversations and hashes of the database; the umask may allow others to read it.
  chmodSync(partial, 0o600)
  syncPath(partial)
  renameSync(partial, target)
  syncPath(dirname(target))
  return target
}

function syncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Whether a server works on a folder with a SQLite database; changes nothing. */
export function isFolderHeld(folder: string): boolean {
  const file = join(folder, 'server.lock')
  if (!existsSync(file)) return false
  const lock = new DatabaseSync(file, { timeout: 0, readOnly: true })
  try {
    lock.exec('select count(*) from sqlite_schema')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    lock.close()
  }
}

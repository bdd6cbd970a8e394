import { access, constants, mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../telemetry/log.js'
import { hasErrorCode, restrictToOwner } from './files.js'

/** Files of the data folder that contain conversations or credentials, or say which server runs. */
export const privateFiles = [
  'secret',
  'admin-token',
  'server.lock',
  'server.address',
  'botstead.db',
  'botstead.db-wal',
  'botstead.db-shm',
  'botstead.db-journal',
  'botstead.db.before-migration',
]

/**
 * Makes the data folder if it is not there.
 * @throws Error whose message, one line, says what is wrong with it and what to do
 */
export async function prepareDataFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Error(
      `The data folder ${path} cannot be used: ${reasonOf(cause)}, or set BOTSTEAD_DATA_DIR to another folder.`,
      { cause },
    )
  }
}

/**
 * Restricts the files of a data folder to their owner: an earlier version, or a copy, may have left them
 * readable for others who can enter the folder.
 */
export async function restrictDataFolder(folder: string, log: Log): Promise<void> {
  for (const name of privateFiles) {
    const path = join(folder, name)
    if (await restrictToOwner(path)) continue
    log.warn({ path }, 'others may read this file, and its permissions cannot be changed')
  }
}

function reasonOf(error: unknown): string {
  if (hasErrorCode(error, 'EACCES', 'EPERM')) {
    return `the user ${userInfo().username} may not write there; make the folder theirs`
  }
  if (hasErrorCode(error, 'EROFS')) return 'its file system is read-only; mount it for writing'
  if (hasErrorCode(error, 'EEXIST', 'ENOTDIR')) {
    return 'there is a file in its place; move that away'
  }
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT')) return 'its disk is full; make room there'
  return `${error instanceof Error ? error.message : error}; fix this`
}

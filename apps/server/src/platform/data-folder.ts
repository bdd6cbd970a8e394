import { access, constants, mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { hasErrorCode } from './durable-files.js'

/**
 * Makes the data folder if it is not there.
 * @throws Error that says in one line what is wrong with it and what to do
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

function reasonOf(error: unknown): string {
  if (hasErrorCode(error, 'EACCES', 'EPERM')) {
    return `the user ${userInfo().username} may not write there; make the folder theirs`
  }
  if (hasErrorCode(error, 'EROFS')) return 'its file system is read-only; mount it for writing'
  if (hasErrorCode(error, 'EEXIST', 'ENOTDIR')) {
    return 'there is a file in its place; move that away'
  }
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT')) return 'its disk is full; make room there'
  return `${error instanceof Error ? error.message : error}; mend that`
}

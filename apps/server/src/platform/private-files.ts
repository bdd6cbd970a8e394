import { chmod, open, stat } from 'node:fs/promises'
import { hasErrorCode } from './durable-files.js'

const ownerOnly = 0o600
const groupAndOthers = 0o077

/**
 * Takes a file from everybody but its owner, whatever the umask and the folder allow; a file that is
 * not there is left so.
 * @returns false if others may still use it: it belongs to another user, or its file system knows no
 * such permissions
 */
export async function closeToOthers(path: string): Promise<boolean> {
  // Windows has permissions of another kind, which the folder of the user hands down.
  if (process.platform === 'win32') return true
  try {
    const { mode } = await stat(path)
    if ((mode & groupAndOthers) === 0) return true
    await chmod(path, ownerOnly)
    return ((await stat(path)).mode & groupAndOthers) === 0
  } catch (error) {
    return hasErrorCode(error, 'ENOENT', 'ENOTDIR')
  }
}

/** Makes an empty file for its owner alone, unless there is a file; what fails is left to its user to tell. */
export async function makePrivateFile(path: string): Promise<void> {
  try {
    await using _ = await open(path, 'wx', ownerOnly)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

import { chmod, open, opendir, stat } from 'node:fs/promises'
import { relative } from 'node:path'

/** Makes new and renamed entries of a folder survive a power loss. */
export async function syncFolder(path: string): Promise<void> {
  // Windows keeps its folders durable by itself and refuses to open them.
  if (process.platform === 'win32') return
  await using folder = await open(path, 'r')
  await folder.sync()
}

/** Whether a thrown value is a system error with one of these codes, such as `ENOENT`. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/**
 * The first file in a folder or below, by its path from there; undefined if there is none, or no such folder. The path is
 * empty if there is a file instead of the folder.
 * @param isIgnored whether a path from the folder does not count
 */
export async function findFile(
  folder: string,
  isIgnored: (path: string) => boolean,
): Promise<string | undefined> {
  try {
    for await (const entry of await opendir(folder, { recursive: true })) {
      const path = relative(folder, `${entry.parentPath}/${entry.name}`)
      if (!entry.isDirectory() && !isIgnored(path)) return path
    }
    return undefined
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    if (hasErrorCode(error, 'ENOTDIR')) return ''
    throw error
  }
}

const ownerOnly = 0o600
const groupAndOthers = 0o077

/** The size of a file in bytes; 0 if it is not there or cannot be examined. */
export async function fileSize(path: string): Promise<number> {
  const facts = await stat(path).catch(() => undefined)
  return facts?.size ?? 0
}

/** Whether nobody but its owner may use a file. */
export function isOwnerOnly({ mode }: { mode: number }): boolean {
  // Windows has permissions of another kind, which files inherit from the user's folder.
  return process.platform === 'win32' || (mode & groupAndOthers) === 0
}

/**
 * Restricts a file to its owner, whatever the umask and the folder allow. A missing file is not created.
 * @returns false if others may still use it: it belongs to another user, or its file system has no
 * permissions
 */
export async function restrictToOwner(path: string): Promise<boolean> {
  try {
    if (isOwnerOnly(await stat(path))) return true
    await chmod(path, ownerOnly)
    return isOwnerOnly(await stat(path))
  } catch (error) {
    return hasErrorCode(error, 'ENOENT', 'ENOTDIR')
  }
}

/** Creates an empty file for its owner alone, unless it exists. The caller that opens it reports failures. */
export async function makePrivateFile(path: string): Promise<void> {
  try {
    await using _ = await open(path, 'wx', ownerOnly)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

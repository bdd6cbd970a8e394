import { open } from 'node:fs/promises'

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

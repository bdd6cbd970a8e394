import { statfs } from 'node:fs/promises'

/** With fewer bytes than this a disk counts as full: nothing of use can be stored any more. */
export const leastRoom = 1024 * 1024

/** Bytes that this process may still write to the disk of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { hasErrorCode } from './files.js'

/** With fewer bytes than this a disk counts as full: nothing of use can be stored any more. */
export const minimumFreeBytes = 1024 * 1024

/** Bytes that this process may still write to the disk of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** The space on the disk of a folder, in bytes. */
export interface DiskSpace {
  /** Space that this process may still use. */
  freeBytes: number
  totalBytes: number
}

/** The space on the disks of folders, by what these hold; a folder that cannot be read is left out. */
export async function diskSpaces<Name extends string>(
  folders: ReadonlyMap<Name, string>,
): Promise<(DiskSpace & { of: Name })[]> {
  const found = await Promise.all(
    Array.from(folders, async ([of, folder]) => {
      const disk = await statfs(folder).catch(() => undefined)
      if (disk === undefined) return []
      const { bavail, blocks, bsize } = disk
      return [{ of, freeBytes: bavail * bsize, totalBytes: blocks * bsize }]
    }),
  )
  return found.flat()
}

/** As much as SQLite wants at once for the index of its log, and more than what is left of a page. */
const attemptBytes = 64 * 1024

/**
 * Whether nothing more can be written to a folder: its disk is full, or its user has used up its quota,
 * which only an attempt shows. For the moment after a failure, because it waits for the disk.
 */
export function isDiskFull(folder: string): boolean {
  const file = join(folder, `space-${randomUUID()}`)
  try {
    writeFileSync(file, Buffer.alloc(attemptBytes, 1), { flag: 'wx', mode: 0o600, flush: true })
    return false
  } catch (error) {
    return hasErrorCode(error, 'ENOSPC', 'EDQUOT')
  } finally {
    rmSync(file, { force: true })
  }
}

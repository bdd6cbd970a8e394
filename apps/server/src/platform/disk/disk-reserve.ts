import { randomBytes } from 'node:crypto'
import { open, truncate } from 'node:fs/promises'
import { hasErrorCode } from './durable-files.js'

/** Bytes that are written at once. */
const pieceSize = 1024 * 1024

/** Disk space that a file reserves, so that work that frees space has some to begin with. */
export interface DiskReserve {
  /** Frees all of it. */
  release(): Promise<void>
  /** Reserves it again, as far as the disk has space. */
  refill(): Promise<void>
}

/**
 * @param file takes the room; made by the first `refill`
 * @param bytes how much it takes; 0 for none
 */
export function createDiskReserve(file: string, bytes: number): DiskReserve {
  let turn = Promise.resolve()
  /** One after the other: a refill must not take back what a later release gave. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  async function empty(): Promise<void> {
    try {
      await truncate(file, 0)
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error
    }
  }

  async function fill(): Promise<void> {
    if (bytes === 0) return
    try {
      await using handle = await open(file, 'a', 0o600)
      let { size } = await handle.stat()
      // A file system that compresses would keep no room for what repeats itself.
      const piece = size < bytes ? randomBytes(Math.min(pieceSize, bytes)) : Buffer.of()
      while (size < bytes) {
        const { bytesWritten } = await handle.write(piece, 0, Math.min(piece.length, bytes - size))
        size += bytesWritten
      }
    } catch (error) {
      // What fits is better than nothing, and more of it is taken after the next deletion.
      if (!hasErrorCode(error, 'ENOSPC', 'EDQUOT')) throw error
    }
  }

  return { release: () => inTurn(empty), refill: () => inTurn(fill) }
}

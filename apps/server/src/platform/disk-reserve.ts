import { randomBytes } from 'node:crypto'
import { open, truncate } from 'node:fs/promises'
import { hasErrorCode } from './durable-files.js'

/** Bytes that are written at once. */
const pieceSize = 1024 * 1024

/** Room on a disk that is kept by a file, so that what makes room there has some to begin with. */
export interface DiskReserve {
  /** Gives all of it to the disk. */
  release(): Promise<void>
  /** Takes back as much of it as there is on the disk. */
  refill(): Promise<void>
}

/**
 * @param file takes the room; made by the first `refill`
 * @param bytes how much it takes; 0 for none
 */
export function createDiskReserve(file: string, bytes: number): DiskReserve {
  let turn = Promise.resolve()
  /** One after the other: what is just being taken must not take what was given. */
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

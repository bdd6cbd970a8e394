import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { BlobStore, ByteRange } from '../../../platform/blobs/blob-store.js'

/** Reads a content of a known size, or a part of it; refuses one that the store has only in part. */
export type ReadContent = (
  blobKey: string,
  size: number,
  range: ByteRange | undefined,
) => Promise<Readable | Buffer>

/** Contents of at most so many bytes are read as a whole, and kept. */
const maxSmall = 64 * 1024
/** Bytes of all contents that are kept. */
const maxKept = 16 * 1024 * 1024
/** Additional bytes per entry: its key and its place in a map. */
const bytesPerEntry = 300

/** Makes a reader that keeps the small contents that were read last: a blob never changes. */
export function createContentReader(blobs: Pick<BlobStore, 'get' | 'read'>): ReadContent {
  const kept = new LRUCache<string, Buffer>({
    maxSize: maxKept,
    sizeCalculation: ({ length }) => length + bytesPerEntry,
  })

  async function readSmall(blobKey: string, size: number): Promise<Buffer> {
    const known = kept.get(blobKey)
    if (known !== undefined) return known
    const bytes = await blobs.read(blobKey, size)
    kept.set(blobKey, bytes)
    return bytes
  }

  return async (blobKey, size, range) => {
    // A store refuses a range that it does not have.
    if (size > maxSmall) return await blobs.get(blobKey, range ?? { start: 0, end: size - 1 })
    const bytes = await readSmall(blobKey, size)
    return range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)
  }
}

import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { BlobStore, ByteRange } from '../../../platform/blobs/blob-store.js'

/**
 * Reads a content of a known size, from 0 bytes, or the bytes of a range inside it.
 * @throws BlobNotFoundError when the store does not have the content
 * @throws BlobRangeError when bytes are missing in the store
 */
export type ReadContent = (
  blobKey: string,
  size: number,
  range: ByteRange | undefined,
) => Promise<Readable | Buffer>

/** Bytes up to which a content is small: it is read as a whole, and kept. */
const maxSmallBytes = 64 * 1024
/** Bytes of all contents that one reader keeps. */
const maxCachedBytes = 16 * 1024 * 1024
/** Counted for each entry besides its content: its key and its place in a map. */
const bytesPerEntry = 300

/** Makes a reader that keeps the small contents that were read last; a blob never changes. */
export function createContentReader(blobs: Pick<BlobStore, 'get' | 'read'>): ReadContent {
  const contents = new LRUCache<string, Buffer>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ length }) => length + bytesPerEntry,
  })

  async function readSmall(blobKey: string, size: number): Promise<Buffer> {
    const cached = contents.get(blobKey)
    if (cached !== undefined) return cached
    const bytes = await blobs.read(blobKey, size)
    contents.set(blobKey, bytes)
    return bytes
  }

  return async (blobKey, size, range) => {
    // A range also for the whole: without one, the store would not notice that bytes are missing.
    if (size > maxSmallBytes) return await blobs.get(blobKey, range ?? { start: 0, end: size - 1 })
    const bytes = await readSmall(blobKey, size)
    return range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)
  }
}

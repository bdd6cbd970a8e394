import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { BlobTooLargeError, type PutOptions, type StoredBlob } from './blob-store.js'

/** Bytes gathered for one write. While they are written, the next are received and hashed. */
const writeSize = 512 * 1024

/**
 * Writes a stream to the end of a file and measures it on the way. At most two write sizes are in
 * memory. The stream is not destroyed when this fails; see {@link BlobStore.put}.
 */
export async function receive(
  content: Readable,
  file: FileHandle,
  options: PutOptions,
): Promise<StoredBlob> {
  const { maxBytes = Number.POSITIVE_INFINITY, signal } = options
  if (signal) addAbortSignal(signal, content)
  const hash = createHash('sha256')
  let size = 0
  let batch: Uint8Array[] = []
  let batchSize = 0
  let writing = Promise.resolve()

  async function flush(): Promise<void> {
    await writing
    writing = writeAll(file, batch)
    // It is awaited with the next batch; until then a failure must not count as unhandled.
    writing.catch(() => undefined)
    batch = []
    batchSize = 0
  }

  for await (const chunk of content.iterator({ destroyOnReturn: false })) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('A blob is made of bytes.')
    size += chunk.length
    if (size > maxBytes) throw new BlobTooLargeError(maxBytes)
    hash.update(chunk)
    batch.push(chunk)
    batchSize += chunk.length
    if (batchSize >= writeSize) await flush()
  }
  await flush()
  await writing
  return { size, sha256: hash.digest('hex') }
}

/** A short write is not an error to the system: the rest is tried again and says what is wrong. */
async function writeAll(file: FileHandle, chunks: Uint8Array[]): Promise<void> {
  let left = chunks
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left)
    left = skip(left, bytesWritten)
  }
}

function skip(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let rest = bytes
  for (const [index, chunk] of chunks.entries()) {
    if (rest < chunk.length) return [chunk.subarray(rest), ...chunks.slice(index + 1)]
    rest -= chunk.length
  }
  return []
}

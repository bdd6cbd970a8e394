import { createHash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { BlobTooLargeError, type PutOptions, type StoredBlob } from './blob-store.js'

/**
 * Reads a stream to its end, and measures it on the way. The stream is not destroyed when this
 * fails, except by the signal; see {@link BlobStore.put}.
 * @param take receives each chunk in order; the next one is read when it is done
 * @throws BlobTooLargeError before a chunk with which the content exceeds `maxBytes` is taken
 */
export async function readContent(
  content: Readable,
  { maxBytes = Number.POSITIVE_INFINITY, signal }: PutOptions,
  take: (chunk: Uint8Array) => Promise<void> | undefined,
): Promise<StoredBlob> {
  if (signal) addAbortSignal(signal, content)
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of content.iterator({ destroyOnReturn: false })) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('A blob is made of bytes.')
    size += chunk.length
    if (size > maxBytes) throw new BlobTooLargeError(maxBytes)
    hash.update(chunk)
    const taken = take(chunk)
    if (taken !== undefined) await taken
  }
  signal?.throwIfAborted()
  return { size, sha256: hash.digest('hex') }
}

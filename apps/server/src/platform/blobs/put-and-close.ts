import type { Readable } from 'node:stream'
import type { BlobStore, PutOptions, StoredBlob } from './blob-store.js'

/**
 * Stores a stream that nobody else needs. Unlike `put` alone it destroys the stream when the store
 * gives up, and with it whatever the stream reads from.
 * @throws as {@link BlobStore.put}
 */
export async function putAndClose(
  blobs: Pick<BlobStore, 'put'>,
  key: string,
  content: Readable,
  options?: PutOptions,
): Promise<StoredBlob> {
  try {
    return await blobs.put(key, content, options)
  } finally {
    content.destroy()
  }
}

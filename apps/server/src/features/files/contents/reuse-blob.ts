import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import type { Db } from '../../../platform/db/schema.js'
import { findEqualBlob, type StoredBytes } from './blob-use-store.js'

/**
 * Decides whether an equal blob is reused for new bytes or replaced by them: the store may have lost it,
 * for example because of a disk failure.
 * @param bytes that were just stored
 * @returns the same for `useBytes`, with the blob to replace if there is one
 */
export async function reuseOrReplaceBlob(
  { db, blobs }: { db: Db; blobs: Pick<BlobStore, 'head'> },
  botId: string,
  bytes: StoredBytes,
): Promise<StoredBytes> {
  const equal = await findEqualBlob(db, botId, bytes.sha256)
  if (equal === undefined) return bytes
  const facts = await blobs.head(equal.blobKey)
  return facts?.size === bytes.size ? bytes : { ...bytes, lostBlobKey: equal.blobKey }
}

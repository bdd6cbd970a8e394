import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import type { Db } from '../../../platform/db/schema.js'
import { findEqualBlob, type StoredBytes } from './blob-use-store.js'

/**
 * Looks whether the blob with which new bytes would be shared is still what it was. The store may
 * have lost it: a disk went bad, somebody deleted a file. Then the new bytes take its place.
 * @param bytes that were just stored
 * @returns the same, for `useBytes`
 */
export async function besideLostBlob(
  { db, blobs }: { db: Db; blobs: Pick<BlobStore, 'head'> },
  botId: string,
  bytes: StoredBytes,
): Promise<StoredBytes> {
  const equal = await findEqualBlob(db, botId, bytes.sha256)
  if (equal === undefined) return bytes
  const facts = await blobs.head(equal.blobKey)
  return facts?.size === bytes.size ? bytes : { ...bytes, lostBlobKey: equal.blobKey }
}

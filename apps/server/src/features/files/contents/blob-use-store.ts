import { sql } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'

/** Bytes in the blob store. */
export interface StoredBytes {
  blobKey: string
  /** Hex, over all bytes. */
  sha256: string
  size: number
  /** A blob that is counted as having the same bytes, but that the store has lost. */
  lostBlobKey?: string
}

/**
 * Counts a use of bytes that were just stored and returns the key of the blob that holds them: an
 * older one where the bot has the same bytes already. The new blob is then left to the sweeper,
 * unless the older one is lost: then the new one replaces it.
 */
export async function useBytes(tx: Tx, botId: string, bytes: StoredBytes): Promise<string> {
  const { blobKey, sha256, size, lostBlobKey } = bytes
  if (lostBlobKey !== undefined && (await takeOverUses(tx, lostBlobKey, blobKey))) return blobKey
  const row = await tx
    .insertInto('file_blobs')
    .values({ blob_key: blobKey, bot_id: botId, sha256, size, uses: 1 })
    .onConflict((conflict) =>
      conflict.columns(['bot_id', 'sha256']).doUpdateSet({ uses: sql`file_blobs.uses + 1` }),
    )
    .returning('blob_key')
    .executeTakeFirstOrThrow()
  if (row.blob_key !== blobKey) await discardBlob(tx, blobKey)
  return row.blob_key
}

/**
 * Points all contents that use a lost blob to its replacement, and counts one more use.
 * @returns whether the lost blob was still in use
 */
async function takeOverUses(tx: Tx, lost: string, blobKey: string): Promise<boolean> {
  const moved = await tx
    .updateTable('file_blobs')
    .set(({ eb }) => ({ blob_key: blobKey, uses: eb('uses', '+', 1) }))
    .where('blob_key', '=', lost)
    .returning('blob_key')
    .executeTakeFirst()
  if (moved === undefined) return false
  for (const column of ['blob_key', 'passages_blob_key'] as const) {
    const change = { [column]: blobKey }
    await tx.updateTable('file_contents').set(change).where(column, '=', lost).execute()
  }
  // Part of it may still exist.
  await discardBlob(tx, lost)
  return true
}

/** Counts one more use of a blob; the caller has locked a file that uses it. */
export async function shareBlob(tx: Tx, blobKey: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('file_blobs')
    .set({ uses: sql`uses + 1` })
    .where('blob_key', '=', blobKey)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error(`The blob ${blobKey} has no row`)
}

/** Ends a use of a blob. With the last one, the blob is left to the sweeper. */
export async function releaseBlob(tx: Tx, blobKey: string): Promise<void> {
  const row = await tx
    .updateTable('file_blobs')
    .set({ uses: sql`uses - 1` })
    .where('blob_key', '=', blobKey)
    .returning('uses')
    .executeTakeFirst()
  if (row !== undefined && row.uses > 0) return
  await tx.deleteFrom('file_blobs').where('blob_key', '=', blobKey).execute()
  await discardBlob(tx, blobKey)
}

/** Leaves a blob that was never counted, or no longer is, to the sweeper. */
export async function discardBlob(tx: Tx, blobKey: string): Promise<void> {
  await tx
    .insertInto('discarded_blobs')
    .values({ blob_key: blobKey })
    .onConflict((conflict) => conflict.column('blob_key').doNothing())
    .execute()
}

/** The bytes of a blob that is in use. */
export async function findBlob(db: Db, blobKey: string): Promise<StoredBytes | undefined> {
  return await db
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'sha256', 'size'])
    .where('blob_key', '=', blobKey)
    .executeTakeFirst()
}

/** The blob that new bytes of a bot would share. */
export async function findEqualBlob(
  db: Db,
  botId: string,
  sha256: string,
): Promise<StoredBytes | undefined> {
  return await db
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'sha256', 'size'])
    .where('bot_id', '=', botId)
    .where('sha256', '=', sha256)
    .executeTakeFirst()
}

/**
 * Keys of blobs without references, in order.
 * @param after the last key of the batch before
 */
export async function listDiscardedBlobs(
  db: Db,
  limit: number,
  after: string | undefined,
): Promise<string[]> {
  const rows = await db
    .selectFrom('discarded_blobs')
    .select('blob_key')
    .where('blob_key', '>', after ?? '')
    .orderBy('blob_key')
    .limit(limit)
    .execute()
  return rows.map(({ blob_key }) => blob_key)
}

export async function forgetDiscardedBlobs(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('discarded_blobs').where('blob_key', 'in', keys).execute()
}

/** The given blob keys that are in use. */
export async function listUsedBlobs(db: Db, keys: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('file_blobs')
    .select('blob_key')
    .where('blob_key', 'in', keys)
    .union(db.selectFrom('content_parts').select('blob_key').where('blob_key', 'in', keys))
    .execute()
  return new Set(rows.map(({ blob_key }) => blob_key))
}

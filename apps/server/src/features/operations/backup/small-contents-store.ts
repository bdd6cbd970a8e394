import type { Db, Tx } from '../../../platform/db/schema.js'

/** Some of the contents in the database itself. */
export async function listSmallContents(
  db: Db,
  limit: number,
): Promise<{ key: string; bytes: Uint8Array }[]> {
  return await db
    .selectFrom('small_blobs')
    .select(['key', 'bytes'])
    .orderBy('key')
    .limit(limit)
    .execute()
}

export async function deleteSmallContents(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('small_blobs').where('key', 'in', keys).execute()
}

import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Db, Tx } from '../../schema.js'
import type { FileContentsTable } from './table.js'

export type ContentRow = Selectable<FileContentsTable>

export async function insertContent(tx: Tx, row: Insertable<FileContentsTable>): Promise<void> {
  await tx.insertInto('file_contents').values(row).execute()
}

export async function findContent(
  executor: Db | Tx,
  fileId: string,
  generation: number,
): Promise<ContentRow | undefined> {
  return await executor
    .selectFrom('file_contents')
    .selectAll()
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .executeTakeFirst()
}

/** All generations of a file that are still of use, oldest first. */
export async function listContents(executor: Db | Tx, fileId: string): Promise<ContentRow[]> {
  return await executor
    .selectFrom('file_contents')
    .selectAll()
    .where('file_id', '=', fileId)
    .orderBy('generation')
    .execute()
}

export async function patchContent(
  tx: Tx,
  fileId: string,
  generation: number,
  patch: Updateable<FileContentsTable>,
): Promise<void> {
  await tx
    .updateTable('file_contents')
    .set(patch)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .execute()
}

/** Removes generations and leaves their blobs to the sweeper. */
export async function discardContents(tx: Tx, contents: readonly ContentRow[]): Promise<void> {
  for (const { file_id, generation, blob_key } of contents) {
    await tx
      .deleteFrom('file_contents')
      .where('file_id', '=', file_id)
      .where('generation', '=', generation)
      .execute()
    if (blob_key !== null) {
      await tx.insertInto('discarded_blobs').values({ blob_key }).execute()
    }
  }
}

/** Keys of blobs that nothing refers to any more. */
export async function listDiscardedBlobs(db: Db, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('discarded_blobs').select('blob_key').limit(limit).execute()
  return rows.map(({ blob_key }) => blob_key)
}

export async function forgetDiscardedBlobs(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('discarded_blobs').where('blob_key', 'in', keys).execute()
}

/** Those of some blob keys that a generation refers to. */
export async function listUsedBlobs(db: Db, keys: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('file_contents')
    .select('blob_key')
    .where('blob_key', 'in', keys)
    .execute()
  return new Set(rows.flatMap(({ blob_key }) => blob_key ?? []))
}

/** Generations announced before a time whose content never came. */
export async function listAbandoned(
  db: Db,
  before: string,
  limit: number,
): Promise<{ file_id: string; generation: number }[]> {
  return await db
    .selectFrom('file_contents')
    .select(['file_id', 'generation'])
    .where('status', '=', 'upload_pending')
    .where('created_at', '<', before)
    .limit(limit)
    .execute()
}

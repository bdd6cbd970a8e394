import type { Insertable, Updateable } from 'kysely'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import type { ContentRow, FileContentsTable, PartRow } from '../table.js'
import { discardBlob, releaseBlob } from './blob-use-store.js'

/** Names one generation of a file. */
export interface ContentId {
  fileId: string
  generation: number
}

export async function insertContent(tx: Tx, row: Insertable<FileContentsTable>): Promise<void> {
  await tx.insertInto('file_contents').values(row).execute()
}

export async function findContent(
  executor: Db | Tx,
  botId: string,
  { fileId, generation }: ContentId,
): Promise<ContentRow | undefined> {
  return await executor
    .selectFrom('file_contents')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .executeTakeFirst()
}

/** All generations of a file that are still needed, oldest first. */
export async function listContents(
  executor: Db | Tx,
  botId: string,
  fileId: string,
): Promise<ContentRow[]> {
  return await executor
    .selectFrom('file_contents')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .orderBy('generation')
    .execute()
}

export async function patchContent(
  tx: Tx,
  botId: string,
  { fileId, generation }: ContentId,
  patch: Updateable<FileContentsTable>,
): Promise<void> {
  await tx
    .updateTable('file_contents')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .execute()
}

/** Changes all generations of a file. */
export async function patchContents(
  tx: Tx,
  botId: string,
  fileId: string,
  patch: Updateable<FileContentsTable>,
): Promise<void> {
  await tx
    .updateTable('file_contents')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .execute()
}

/** Removes generations; blobs without other uses are left to the sweeper. */
export async function discardContents(
  tx: Tx,
  botId: string,
  contents: readonly ContentRow[],
): Promise<void> {
  for (const { file_id, generation } of contents) {
    await tx
      .deleteFrom('file_contents')
      .where('bot_id', '=', botId)
      .where('file_id', '=', file_id)
      .where('generation', '=', generation)
      .execute()
  }
  const keys = contents.flatMap((row) => [row.blob_key, row.passages_blob_key]).filter(isPresent)
  // In a fixed order, so that two transactions that release the same blobs do not deadlock.
  for (const key of keys.sort()) await releaseBlob(tx, key)
}

/** Generations of all bots that were announced before a time and whose content never arrived. */
export async function listAbandoned(
  db: Db,
  before: string,
  limit: number,
): Promise<{ bot_id: string; file_id: string; generation: number }[]> {
  return await db
    .selectFrom('file_contents')
    .select(['bot_id', 'file_id', 'generation'])
    .where('status', '=', 'upload_pending')
    .where('created_at', '<', before)
    // A content that arrived completely is still to be assembled: see uploads/parts.ts.
    .where((eb) => eb.or([eb('received', 'is', null), eb('received', '<', eb.ref('size'))]))
    .limit(limit)
    .execute()
}

function isPresent(key: string | null): key is string {
  return key !== null
}

export async function insertPart(tx: Tx, row: Insertable<Schema['content_parts']>): Promise<void> {
  await tx.insertInto('content_parts').values(row).execute()
}

/** The parts of a content in their order. */
export async function listParts(
  executor: Db | Tx,
  botId: string,
  { fileId, generation }: ContentId,
): Promise<PartRow[]> {
  return await executor
    .selectFrom('content_parts')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .orderBy('start')
    .execute()
}

/** Removes the parts of a content and leaves their blobs to the sweeper. */
export async function discardParts(
  tx: Tx,
  botId: string,
  { fileId, generation }: ContentId,
): Promise<void> {
  const rows = await tx
    .deleteFrom('content_parts')
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .returning('blob_key')
    .execute()
  for (const { blob_key } of rows) await discardBlob(tx, blob_key)
}

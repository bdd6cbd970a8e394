import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { FileContentsTable } from '../table.js'
import { releaseBlob } from './blob-use-store.js'

export type ContentRow = Selectable<FileContentsTable>

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

/** All generations of a file that are still of use, oldest first. */
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

/** Removes generations; blobs that were theirs alone are left to the sweeper. */
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
  // In one order everywhere, so that two that release the same blobs wait for each other.
  for (const key of keys.sort()) await releaseBlob(tx, key)
}

/** Generations of all bots that were announced before a time and whose content never came. */
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
    // What is there completely is still to be put together: see assembly.ts.
    .where((eb) => eb.or([eb('received', 'is', null), eb('received', '<', eb.ref('size'))]))
    .limit(limit)
    .execute()
}

function isPresent(key: string | null): key is string {
  return key !== null
}

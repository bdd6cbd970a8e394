import type { Insertable, Selectable } from 'kysely'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import { discardBlob } from './blob-use-store.js'
import type { ContentId } from './content-store.js'

export type PartRow = Selectable<Schema['content_parts']>

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

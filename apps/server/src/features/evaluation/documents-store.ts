import type { Db, Tx } from '../../platform/db/schema.js'
import type { DocumentRow } from './table.js'

/** The valid rows of a bot whose file ids are above `after`, up to `last` if that is given. */
export async function listValid(
  db: Db,
  botId: string,
  { after, last }: { after: string; last: string | undefined },
): Promise<DocumentRow[]> {
  return await db
    .selectFrom('evaluation_documents')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('file_id', '>', after)
    .$if(last !== undefined, (query) => query.where('file_id', '<=', last ?? ''))
    .where('until', 'is', null)
    .execute()
}

export async function insertDocuments(tx: Tx, rows: readonly DocumentRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('evaluation_documents')
    .values([...rows])
    .execute()
}

/** Ends the validity of rows with a run; those that began with the same run are deleted. */
export async function endDocuments(
  tx: Tx,
  botId: string,
  fileIds: readonly string[],
  runId: string,
): Promise<void> {
  if (fileIds.length === 0) return
  await tx
    .deleteFrom('evaluation_documents')
    .where('bot_id', '=', botId)
    .where('file_id', 'in', fileIds)
    .where('since', '=', runId)
    .execute()
  await tx
    .updateTable('evaluation_documents')
    .set({ until: runId })
    .where('bot_id', '=', botId)
    .where('file_id', 'in', fileIds)
    .where('until', 'is', null)
    .execute()
}

/** At most `limit` rows that are valid at only one of two runs, in the order of their files. */
export async function listChanges(
  db: Db,
  botId: string,
  { older, newer, limit }: { older: string; newer: string; limit: number },
): Promise<DocumentRow[]> {
  return await db
    .selectFrom('evaluation_documents')
    .selectAll()
    .where('bot_id', '=', botId)
    .where((eb) =>
      eb.or([
        eb.and([eb('since', '>', older), eb('since', '<=', newer)]),
        eb.and([eb('until', '>', older), eb('until', '<=', newer)]),
      ]),
    )
    .orderBy('file_id')
    .orderBy('since')
    .limit(limit)
    .execute()
}

/**
 * Deletes rows of a bot, those of at most `limit` files, and returns their number.
 * @param oldest id of the oldest run that remains: rows that ended before it are deleted; undefined deletes every row
 */
export async function deleteDocuments(
  tx: Tx,
  botId: string,
  limit: number,
  oldest?: string,
): Promise<number> {
  let some = tx.selectFrom('evaluation_documents').select('file_id').where('bot_id', '=', botId)
  let unseen = tx.deleteFrom('evaluation_documents').where('bot_id', '=', botId)
  if (oldest !== undefined) {
    some = some.where('until', '<=', oldest)
    unseen = unseen.where('until', '<=', oldest)
  }
  const result = await unseen.where('file_id', 'in', some.limit(limit)).executeTakeFirst()
  return Number(result.numDeletedRows)
}

import type { Insertable } from 'kysely'
import type { Db, Tx } from '../../schema.js'
import type { WebhookCursorsTable } from './table.js'

/** Says from where on the signals of a conversation are to be posted; an older place stays. */
export async function insertCursor(tx: Tx, row: Insertable<WebhookCursorsTable>): Promise<void> {
  await tx
    .insertInto('chat_webhook_cursors')
    .values(row)
    .onConflict((conflict) => conflict.column('conversation_id').doNothing())
    .execute()
}

/** Number of the last event of a conversation whose signals were taken. */
export async function findCursor(
  db: Db,
  botId: string,
  conversationId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('chat_webhook_cursors')
    .select('sequence')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()
  return row?.sequence
}

export async function moveCursor(
  tx: Tx,
  botId: string,
  conversationId: string,
  sequence: number,
): Promise<void> {
  await tx
    .updateTable('chat_webhook_cursors')
    .set({ sequence })
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .execute()
}

export async function deleteCursor(tx: Tx, botId: string, conversationId: string): Promise<void> {
  await tx
    .deleteFrom('chat_webhook_cursors')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeCursors(tx: Tx, botId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('chat_webhook_cursors')
    .where('conversation_id', 'in', ({ selectFrom }) =>
      selectFrom('chat_webhook_cursors')
        .select('conversation_id')
        .where('bot_id', '=', botId)
        .limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

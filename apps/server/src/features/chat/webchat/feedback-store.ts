import type { Selectable } from 'kysely'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'

export type FeedbackRow = Selectable<Schema['message_feedback']>

/** Stores the feedback of a message, which replaces an earlier one. */
export async function putFeedback(tx: Tx, row: FeedbackRow): Promise<void> {
  const { message_id: _, bot_id: __, conversation_id: ___, ...patch } = row
  await tx
    .insertInto('message_feedback')
    .values(row)
    .onConflict((conflict) => conflict.column('message_id').doUpdateSet(patch))
    .execute()
}

/** @returns whether there was one */
export async function deleteFeedback(tx: Tx, botId: string, messageId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('message_feedback')
    .where('bot_id', '=', botId)
    .where('message_id', '=', messageId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows) > 0
}

export async function listFeedback(
  db: Db,
  botId: string,
  messageIds: readonly string[],
): Promise<FeedbackRow[]> {
  if (messageIds.length === 0) return []
  return await db
    .selectFrom('message_feedback')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('message_id', 'in', messageIds)
    .execute()
}

export async function deleteFeedbackIn(
  tx: Tx,
  botId: string,
  conversationId: string,
): Promise<void> {
  await tx
    .deleteFrom('message_feedback')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeFeedback(tx: Tx, botId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('message_feedback')
    .where('message_id', 'in', ({ selectFrom }) =>
      selectFrom('message_feedback').select('message_id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

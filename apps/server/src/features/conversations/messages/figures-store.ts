import { sql } from 'kysely'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'
import type { MessageRow } from './store.js'

/** The columns of a message that figures need. */
export type CountedMessage = Pick<
  MessageRow,
  'id' | 'created_at' | 'direction' | 'conversation_id' | 'user_id'
>

/**
 * Messages of a bot in a period, oldest first, at most `limit`: the index gives them in this order.
 * @param after the last one that was read; undefined to begin
 */
export async function listCounted(
  db: Db,
  botId: string,
  { since, before }: Period,
  after: Pick<MessageRow, 'id' | 'created_at'> | undefined,
  limit: number,
): Promise<CountedMessage[]> {
  let query = db
    .selectFrom('messages')
    .select(['id', 'created_at', 'direction', 'conversation_id', 'user_id'])
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
  if (after)
    query = query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`)
  return await query.orderBy('created_at').orderBy('id').limit(limit).execute()
}

/** Time of the first message of a bot in a period. */
export async function findFirstMessageTime(
  db: Db,
  botId: string,
  { since, before }: Period,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('messages')
    .select('created_at')
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}

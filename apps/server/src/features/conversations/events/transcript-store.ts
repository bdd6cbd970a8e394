import { type SqlBool, sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type PageRange, pageOf } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { EventRow } from './store.js'

/**
 * Events about a conversation in a range, and one more, without those that report a message.
 * @param until ISO 8601 time in the direction of the range, behind which none is needed
 */
export async function listEventsIn(
  db: Db,
  { botId, conversationId }: { botId: string; conversationId: string },
  range: PageRange<'created_at'>,
  until: string | undefined,
): Promise<EventRow[]> {
  let query = db
    .selectFrom('bot_events')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    // As an expression, because SQLite would else read all events of the bot in their order.
    .where(sql<SqlBool>`(bot_id || '') = ${botId}`)
    .where(({ eb, or }) => or([eb('type', '<>', 'message_created'), eb('message_id', 'is', null)]))
  if (until !== undefined) {
    query = query.where('created_at', range.direction === 'asc' ? '<=' : '>=', until)
  }
  return await pageOf(query, range).execute()
}

/** The events that report messages to the bot, by the ids of the messages. */
export async function listReports(
  db: Db,
  botId: string,
  messageIds: readonly string[],
): Promise<Pick<EventRow, 'id' | 'message_id' | 'status'>[]> {
  return await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(messageIds)}`))
    .crossJoin('bot_events')
    .whereRef('bot_events.message_id', '=', 'given.value')
    .where(sql<SqlBool>`(bot_id || '') = ${botId}`)
    .where('bot_events.type', '=', 'message_created')
    .select(['bot_events.id', 'bot_events.message_id', 'bot_events.status'])
    .execute()
}

import { sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type PageRange, pageOf } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { MessageRow } from './store.js'

/** The newest message of each conversation that has one; 100 conversations at most. */
export async function listNewestMessages(
  db: Db,
  conversationIds: readonly string[],
): Promise<MessageRow[]> {
  if (conversationIds.length === 0) return []
  const parts = conversationIds.map(
    (id) => sql`select * from (
      select * from messages where conversation_id = ${id}
      order by created_at desc limit 1
    ) as part`,
  )
  const { rows } = await sql<MessageRow>`${sql.join(parts, sql` union all `)}`.execute(db)
  return rows
}

/** Messages of a conversation in a range, and one more. */
export async function listMessagesIn(
  db: Db,
  conversationId: string,
  range: PageRange<'created_at'>,
): Promise<MessageRow[]> {
  const query = db.selectFrom('messages').selectAll().where('conversation_id', '=', conversationId)
  return await pageOf(query, range).execute()
}

/** A message as it is read to be indexed. */
export type MessageText = Pick<MessageRow, 'id' | 'bot_id' | 'conversation_id' | 'payload'>

const textColumns = ['id', 'bot_id', 'conversation_id', 'payload'] as const

/** Messages of all bots behind one id and before another one, in the order of ids: for background work. */
export async function listTextsBetween(
  db: Db,
  afterId: string,
  beforeId: string,
  limit: number,
): Promise<MessageText[]> {
  return await db
    .selectFrom('messages')
    .select(textColumns)
    .where('id', '>', afterId)
    .where('id', '<', beforeId)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** The messages with these ids that exist, of all bots: for background work. */
export async function listTexts(db: Db, ids: readonly string[]): Promise<MessageText[]> {
  return await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(ids)}`))
    .crossJoin('messages')
    .whereRef('messages.id', '=', 'given.value')
    .select(['messages.id', 'bot_id', 'conversation_id', 'payload'])
    .execute()
}

/** The messages with these ids that exist in one of the bots, with their conversations. */
export async function listPlaces(
  db: Db,
  botIds: readonly string[],
  ids: readonly string[],
): Promise<Pick<MessageRow, 'id' | 'conversation_id'>[]> {
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(ids)}`))
    .crossJoin('messages')
    .whereRef('messages.id', '=', 'given.value')
    .select(['messages.id', 'bot_id', 'conversation_id'])
    .execute()
  const own = new Set(botIds)
  return rows.filter(({ bot_id: botId }) => own.has(botId))
}

/** The newest messages of each conversation, at most `limit` of each; 100 conversations at most. */
export async function listTextsOf(
  db: Db,
  conversationIds: readonly string[],
  limit: number,
): Promise<MessageText[]> {
  if (conversationIds.length === 0) return []
  const parts = conversationIds.map(
    (id) => sql`select * from (
      select id, bot_id, conversation_id, payload from messages
      where conversation_id = ${id} order by created_at desc limit ${limit}
    ) as part`,
  )
  const { rows } = await sql<MessageText>`${sql.join(parts, sql` union all `)}`.execute(db)
  return rows
}

/** Bots that one statement reads; SQLite takes 500 parts of a union at most. */
const botsAtOnce = 100

/** The newest messages of each bot since a time (ISO 8601), at most `limit` of each. */
export async function listTextsSince(
  db: Db,
  botIds: readonly string[],
  since: string,
  limit: number,
): Promise<MessageText[]> {
  const found: MessageText[] = []
  for (let at = 0; at < botIds.length; at += botsAtOnce) {
    const parts = botIds.slice(at, at + botsAtOnce).map(
      (botId) => sql`select * from (
        select id, bot_id, conversation_id, payload from messages
        where bot_id = ${botId} and created_at >= ${since}
        order by created_at desc, id desc limit ${limit}
      ) as part`,
    )
    const { rows } = await sql<MessageText>`${sql.join(parts, sql` union all `)}`.execute(db)
    found.push(...rows)
  }
  return found
}

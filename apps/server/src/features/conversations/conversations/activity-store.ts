import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Position } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import { carriesAll } from '../tags/index.js'
import type { ConversationRow } from './store.js'

/** A conversation by its place in the order of activity: that of its last change, then of its id. */
export type ActivityKey = Pick<ConversationRow, 'id' | 'bot_id' | 'updated_at'>

/** A part of the order of activity. */
export interface ActivityRange {
  /** ISO 8601 times, both included; undefined for any. */
  since: string | undefined
  until: string | undefined
  direction: 'asc' | 'desc'
  /** Begins behind this one. */
  after: Position | undefined
}

/** Conditions on conversations; undefined and empty members match anything. */
export interface ConversationNarrowing {
  /** Alias of the installation to which they belong. */
  integration: string | undefined
  channel: string | undefined
  /** All must be equal. */
  tags: Readonly<Record<string, string>>
  /** Native id of a user who must take part. */
  userId: string | undefined
}

/** Bots that one statement reads; SQLite takes 500 parts of a union at most. */
const botsAtOnce = 100

/**
 * The next conversations of several bots in the order of activity. Each bot contributes at most `limit`, so
 * that the index is read no further. `isLast` says whether nothing lies behind the returned ones.
 */
export async function listActivity(
  db: Db,
  botIds: readonly string[],
  range: ActivityRange,
  limit: number,
): Promise<{ keys: ActivityKey[]; isLast: boolean }> {
  const keys: ActivityKey[] = []
  for (let at = 0; at < botIds.length; at += botsAtOnce) {
    const parts = botIds.slice(at, at + botsAtOnce).map((botId) => partOf(botId, range, limit))
    const { rows } = await sql<ActivityKey>`${sql.join(parts, sql` union all `)}`.execute(db)
    keys.push(...rows)
  }
  const before =
    range.direction === 'asc' ? isLess : (a: ActivityKey, b: ActivityKey) => isLess(b, a)
  keys.sort((a, b) => (before(a, b) ? -1 : Number(before(b, a))))
  const count = new Map<string, number>()
  for (const [at, { bot_id: botId }] of keys.entries()) {
    const read = (count.get(botId) ?? 0) + 1
    count.set(botId, read)
    // Behind the last one that was read of a bot, unread ones of that bot may come first.
    if (read === limit) return { keys: keys.slice(0, at + 1), isLast: false }
  }
  return { keys, isLast: true }
}

function partOf(botId: string, range: ActivityRange, limit: number): RawBuilder<ActivityKey> {
  const { direction, after } = range
  const order = direction === 'asc' ? sql`asc` : sql`desc`
  const comparison = direction === 'asc' ? sql`>` : sql`<`
  const conditions = [
    sql<SqlBool>`bot_id = ${botId}`,
    ...timesOf(range),
    ...(after ? [sql<SqlBool>`(updated_at, id) ${comparison} (${after.value}, ${after.id})`] : []),
  ]
  return sql`select * from (
    select id, bot_id, updated_at from conversations
    where ${sql.join(conditions, sql` and `)}
    order by updated_at ${order}, id ${order} limit ${limit}
  ) as part`
}

function timesOf({ since, until }: Pick<ActivityRange, 'since' | 'until'>): RawBuilder<SqlBool>[] {
  return [
    ...(since === undefined ? [] : [sql<SqlBool>`updated_at >= ${since}`]),
    ...(until === undefined ? [] : [sql<SqlBool>`updated_at <= ${until}`]),
  ]
}

/** The number of conversations of several bots in a range of time, at most `limit`. */
export async function countActivity(
  db: Db,
  botIds: readonly string[],
  times: Pick<ActivityRange, 'since' | 'until'>,
  limit: number,
): Promise<number> {
  const conditions = [sql<SqlBool>`conversations.bot_id = given.value`, ...timesOf(times)]
  const found = db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('conversations')
    .select('conversations.bot_id')
    .where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`)
    .limit(limit)
  const row = await db
    .selectFrom(found.as('found'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** Selects the given conversations, by native id, that belong to the bots and meet all conditions. */
export async function narrowConversations(
  db: Db,
  botIds: readonly string[],
  ids: readonly string[],
  { integration, channel, tags, userId }: ConversationNarrowing,
): Promise<ConversationRow[]> {
  if (ids.length === 0) return []
  let query = db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(ids)}`))
    .crossJoin('conversations')
    .whereRef('conversations.id', '=', 'given.value')
    .selectAll('conversations')
    .where(({ ref }) => carriesAll(ref('conversations.id'), Object.entries(tags)))
  if (integration !== undefined) query = query.where('integration', '=', integration)
  if (channel !== undefined) query = query.where('channel', '=', channel)
  if (userId !== undefined) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('participants')
          .select('participants.user_id')
          .whereRef('participants.conversation_id', '=', 'conversations.id')
          .where('participants.user_id', '=', userId),
      ),
    )
  }
  const own = new Set(botIds)
  return (await query.execute()).filter(({ bot_id: botId }) => own.has(botId))
}

/** Native ids of the conversations in which a user of one of the bots takes part, at most `limit`. */
export async function listConversationsOf(
  db: Db,
  botIds: readonly string[],
  userId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('participants')
    .whereRef('participants.bot_id', '=', 'given.value')
    .where('participants.user_id', '=', userId)
    .select('participants.conversation_id')
    .limit(limit)
    .execute()
  return rows.map(({ conversation_id: id }) => id)
}

/** Native ids of some participants of each conversation, at most `limit` of each, in the order of ids. */
export async function listMembers(
  db: Db,
  conversationIds: readonly string[],
  limit: number,
): Promise<Map<string, string[]>> {
  const members = new Map<string, string[]>()
  if (conversationIds.length === 0) return members
  const parts = conversationIds.map(
    (id) => sql`select * from (
      select conversation_id, user_id from participants
      where conversation_id = ${id} order by user_id limit ${limit}
    ) as part`,
  )
  const { rows } = await sql<{ conversation_id: string; user_id: string }>`
    ${sql.join(parts, sql` union all `)}`.execute(db)
  for (const { conversation_id: id, user_id: userId } of rows) {
    members.set(id, [...(members.get(id) ?? []), userId])
  }
  return members
}

function isLess(a: ActivityKey, b: ActivityKey): boolean {
  return a.updated_at < b.updated_at || (a.updated_at === b.updated_at && a.id < b.id)
}

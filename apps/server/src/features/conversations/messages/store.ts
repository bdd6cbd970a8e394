import type { Selectable, Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { newestInRanges, sumUpTo, type UpTo } from '../../../platform/db/time-ranges.js'
import { conversationOwners } from '../conversations/index.js'
import { isReported } from '../events/index.js'
import { carriesAll, carriesNoMore, objectsWithTag, type TagMatch } from '../tags/index.js'
import type { MessagesTable, ScheduledMessagesTable } from './table.js'

export type MessageRow = Selectable<MessagesTable>
export type ScheduledMessageRow = Selectable<ScheduledMessagesTable>

/** Filter of a list of messages; undefined members match anything. */
export interface MessageFilter {
  /** Alias of the installation that their conversations belong to. */
  integration: string | undefined
  conversationId: string | undefined
  tags: Record<string, string>
  /** Bounds of the creation time, inclusive, as ISO 8601 times. */
  after: string | undefined
  before: string | undefined
}

/** Ids of the objects to which messages belong, for joins. */
export function messageSubjects(executor: Db | Tx) {
  return executor.selectFrom('messages').select(['id', 'bot_id', 'user_id', 'conversation_id'])
}

/** On the hot path: returns the promise, because the caller awaits it anyway. */
export const insertMessage = prepared<MessageRow>()((db, parameter) =>
  db.insertInto('messages').values({
    id: parameter('id'),
    bot_id: parameter('bot_id'),
    conversation_id: parameter('conversation_id'),
    user_id: parameter('user_id'),
    type: parameter('type'),
    payload: parameter('payload'),
    direction: parameter('direction'),
    tags: parameter('tags'),
    origin: parameter('origin'),
    sequence: parameter('sequence'),
    created_at: parameter('created_at'),
    updated_at: parameter('updated_at'),
  }),
)

export async function findMessage(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<MessageRow | undefined> {
  return await executor
    .selectFrom('messages')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The message with this id and the alias of the installation of its conversation. */
export async function findWithIntegration(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<{ message: MessageRow; integration: string } | undefined> {
  const row = await executor
    .selectFrom('messages')
    .innerJoin(conversationOwners(executor), 'owners.id', 'messages.conversation_id')
    .selectAll('messages')
    .select('owners.integration')
    .where('messages.id', '=', id)
    .where('messages.bot_id', '=', botId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { integration, ...message } = row
  return { message, integration }
}

/** The message with this id, locked until the transaction ends. */
export async function lockMessage(
  tx: Tx,
  botId: string,
  id: string,
): Promise<MessageRow | undefined> {
  const query = tx
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

const selectOne = prepared<{ botId: string; id: string }>()((db, parameter) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('bot_id', '=', parameter('botId'))
    .where('id', '=', parameter('id')),
)

const selectSome = prepared<{ botId: string; ids: string }>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('ids')))
    .crossJoin('messages')
    .whereRef('messages.id', '=', 'given.value')
    .selectAll('messages')
    .where('bot_id', '=', p('botId')),
)

/** The messages with these ids that exist, in no order. */
export async function listMessages(
  db: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<MessageRow[]> {
  const [first, ...others] = ids
  if (first === undefined) return []
  // Listeners of a quiet conversation read one message at a time.
  if (others.length === 0) return await selectOne(db, { botId, id: first })
  return await selectSome(db, { botId, ids: JSON.stringify([...new Set(ids)]) })
}

/** The oldest message of a conversation that has the tags. */
export async function matchMessage(
  tx: Tx,
  botId: string,
  conversationId: string,
  match: TagMatch,
): Promise<MessageRow | undefined> {
  const [first, ...others] = match.tags
  let query = tx
    .selectFrom('messages')
    .selectAll('messages')
    .where('messages.conversation_id', '=', conversationId)
    .where('messages.bot_id', '=', botId)
    .where(({ ref }) => carriesAll(ref('messages.id'), others))
    .where(({ ref }) => carriesNoMore(ref('messages.id'), match))
    .orderBy('messages.created_at')
    .limit(1)
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(tx, botId, 'message', first),
      'tagged.object_id',
      'messages.id',
    )
  }
  return await query.executeTakeFirst()
}

export async function pageAllMessages(
  db: Db,
  botId: string,
  filter: MessageFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<MessageRow>> {
  const [first, ...others] = Object.entries(filter.tags)
  let query = db
    .selectFrom('messages')
    .selectAll('messages')
    .where('messages.bot_id', '=', botId)
    // Messages of a deleted conversation are deleted by a job and must not show until then.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom(conversationOwners(db))
          .select('owners.id')
          .whereRef('owners.id', '=', 'messages.conversation_id')
          .$if(filter.integration !== undefined, (found) =>
            found.where('owners.integration', '=', filter.integration ?? ''),
          ),
      ),
    )
    .where(({ ref }) => carriesAll(ref('messages.id'), others))
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(db, botId, 'message', first),
      'tagged.object_id',
      'messages.id',
    )
  }
  if (filter.conversationId !== undefined) {
    query = query.where('messages.conversation_id', '=', filter.conversationId)
  }
  if (filter.after !== undefined) query = query.where('messages.created_at', '>=', filter.after)
  if (filter.before !== undefined) query = query.where('messages.created_at', '<=', filter.before)
  return await paginate(query, page, 'messages')
}

/** Messages of a conversation, by its native id. */
export async function pageMessages(
  db: Db,
  botId: string,
  conversationId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<MessageRow>> {
  const query = db
    .selectFrom('messages')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
  return await paginate(query, page)
}

/**
 * Messages of users since an ISO 8601 time that no event reports to the bot, newest first. Imported
 * ones are history and are not reported.
 */
export async function listUnreportedMessages(
  tx: Tx,
  botId: string,
  since: string,
  limit: number,
): Promise<Pick<MessageRow, 'id' | 'conversation_id' | 'user_id' | 'created_at'>[]> {
  return await tx
    .selectFrom('messages')
    .select(['id', 'conversation_id', 'user_id', 'created_at'])
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('direction', '=', 'incoming')
    .where('sequence', '>', 0)
    .where(({ not, ref }) => not(isReported(ref('messages.id'))))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Changes a message that {@link lockMessage} returned. */
export async function patchMessage(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<MessagesTable>,
): Promise<void> {
  await tx
    .updateTable('messages')
    .set(patch)
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .execute()
}

/** @returns whether it existed */
export async function deleteMessage(tx: Tx, botId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('messages')
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows) > 0
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeMessages(
  tx: Tx,
  botId: string,
  conversationIds: readonly string[],
  limit: number,
): Promise<number> {
  const result = await tx
    .deleteFrom('messages')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('messages')
        .select('id')
        .where('conversation_id', 'in', conversationIds)
        .where('bot_id', '=', botId)
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

export async function insertScheduled(tx: Tx, row: ScheduledMessageRow): Promise<void> {
  await tx.insertInto('scheduled_messages').values(row).execute()
}

/** The scheduled message with this id, and the alias of the installation of its conversation. */
export async function findScheduled(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<{ message: ScheduledMessageRow; integration: string } | undefined> {
  const row = await executor
    .selectFrom('scheduled_messages')
    .innerJoin(conversationOwners(executor), 'owners.id', 'scheduled_messages.conversation_id')
    .selectAll('scheduled_messages')
    .select('owners.integration')
    .where('scheduled_messages.id', '=', id)
    .where('scheduled_messages.bot_id', '=', botId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { integration, ...message } = row
  return { message, integration }
}

/** Deletes and returns a scheduled message; undefined if it no longer exists. */
export async function takeScheduled(
  tx: Tx,
  botId: string,
  id: string,
): Promise<ScheduledMessageRow | undefined> {
  return await tx
    .deleteFrom('scheduled_messages')
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .returningAll()
    .executeTakeFirst()
}

/** The oldest scheduled message of a conversation that has the tags. */
export async function matchScheduled(
  tx: Tx,
  botId: string,
  conversationId: string,
  match: TagMatch,
): Promise<ScheduledMessageRow | undefined> {
  return await tx
    .selectFrom('scheduled_messages')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .where('bot_id', '=', botId)
    .where(({ ref }) => carriesAll(ref('scheduled_messages.id'), match.tags))
    .where(({ ref }) => carriesNoMore(ref('scheduled_messages.id'), match))
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** Whether a conversation has any scheduled message. */
export async function hasScheduledMessages(
  tx: Tx,
  botId: string,
  conversationId: string,
): Promise<boolean> {
  const found = await tx
    .selectFrom('scheduled_messages')
    .select('id')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Deletes the scheduled messages of some conversations. */
export async function deleteScheduledOf(
  tx: Tx,
  botId: string,
  conversationIds: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('scheduled_messages')
    .where('bot_id', '=', botId)
    .where('conversation_id', 'in', conversationIds)
    .execute()
}

/** The time of the newest message of each bot that has one since an ISO 8601 time. */
export async function listLastMessageTimes(
  db: Db,
  botIds: readonly string[],
  since: string,
): Promise<Map<string, string>> {
  const index = { table: 'messages', columns: ['bot_id'], time: 'created_at' }
  const keys = botIds.map((bot_id) => ({ bot_id }))
  const found = await newestInRanges(db, index, keys, { since, before: '9999' })
  return new Map(found.map(({ key, newest }) => [key.bot_id ?? '', newest]))
}

/** Counts the messages of some bots together, up to `max`. */
export async function sumMessages(db: Db, botIds: readonly string[], max: number): Promise<UpTo> {
  const index = { table: 'messages', columns: ['bot_id'], time: 'created_at' }
  return await sumUpTo(
    db,
    index,
    botIds.map((bot_id) => ({ bot_id })),
    max,
  )
}

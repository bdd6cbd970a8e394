import type { Insertable, Selectable, Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { countUpTo, sumUpTo, type UpTo } from '../../../platform/db/time-ranges.js'
import { carriesAll, carriesNoMore, objectsWithTag, type TagMatch } from '../tags/index.js'
import type { Member } from './slot-store.js'
import type { ConversationsTable, ParticipantsTable } from './table.js'

export type ConversationRow = Selectable<ConversationsTable>

/** Filter of a list of conversations; undefined and empty members match anything. */
export interface ConversationFilter {
  /** Alias of the installation to which it must belong; undefined for any. */
  integration: string | undefined
  channel: string | undefined
  /** All must be equal. */
  tags: Record<string, string>
  /** Native ids of users, all of whom must take part. */
  participantIds: readonly string[]
  /** Bounds of the creation time, inclusive, as ISO 8601 times. */
  after: string | undefined
  before: string | undefined
  /** Bounds of the number of messages, inclusive. */
  minMessages: number | undefined
  maxMessages: number | undefined
}

export async function insertConversation(
  tx: Tx,
  row: Insertable<ConversationsTable>,
): Promise<void> {
  await tx.insertInto('conversations').values(row).execute()
}

/** The conversation with this native id. */
export async function findConversation(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<ConversationRow | undefined> {
  return await executor
    .selectFrom('conversations')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .executeTakeFirst()
}

const selectSome = prepared<{ botId: string; ids: string }>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('ids')))
    .crossJoin('conversations')
    .whereRef('conversations.id', '=', 'given.value')
    .selectAll('conversations')
    .where('bot_id', '=', p('botId')),
)

/** The conversations with these native ids, in any order. */
export async function findConversations(
  executor: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<ConversationRow[]> {
  if (ids.length === 0) return []
  return await selectSome(executor, { botId, ids: JSON.stringify([...new Set(ids)]) })
}

/** The conversation with this native id, locked until the transaction ends. */
export async function lockConversation(
  tx: Tx,
  botId: string,
  id: string,
): Promise<ConversationRow | undefined> {
  const query = tx
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Changes a conversation that {@link lockConversation} returned. */
export async function patchConversation(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<ConversationsTable>,
): Promise<void> {
  await tx
    .updateTable('conversations')
    .set(patch)
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .execute()
}

/** The oldest conversation of an installation on a channel that has the tags. */
export async function matchConversation(
  tx: Tx,
  botId: string,
  { integration, channel }: { integration: string; channel: string },
  match: TagMatch,
): Promise<ConversationRow | undefined> {
  const [first, ...others] = match.tags
  let query = tx
    .selectFrom('conversations')
    .selectAll('conversations')
    .where('conversations.bot_id', '=', botId)
    .where('conversations.integration', '=', integration)
    .where('conversations.channel', '=', channel)
    .where(({ ref }) => carriesAll(ref('conversations.id'), others))
    .where(({ ref }) => carriesNoMore(ref('conversations.id'), match))
    .orderBy('conversations.created_at')
    .orderBy('conversations.id')
    .limit(1)
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(tx, botId, 'conversation', first),
      'tagged.object_id',
      'conversations.id',
    )
  }
  return await query.executeTakeFirst()
}

export async function pageConversations(
  db: Db,
  botId: string,
  filter: ConversationFilter,
  page: PageRequest<'created_at' | 'updated_at'>,
): Promise<Page<ConversationRow>> {
  const [firstTag, ...otherTags] = Object.entries(filter.tags)
  const [firstUser, ...otherUsers] = filter.participantIds
  let query = db
    .selectFrom('conversations')
    .selectAll('conversations')
    .where('conversations.bot_id', '=', botId)
    // Joined, so that the few conversations of a user are not searched for among all of the bot.
    .$if(firstUser !== undefined, (all) =>
      all
        .innerJoin('participants as member', 'member.conversation_id', 'conversations.id')
        .where('member.bot_id', '=', botId)
        .where('member.user_id', '=', firstUser ?? ''),
    )
  if (filter.integration !== undefined) {
    query = query.where('conversations.integration', '=', filter.integration)
  }
  if (filter.channel !== undefined) query = query.where('channel', '=', filter.channel)
  if (filter.after !== undefined) {
    query = query.where('conversations.created_at', '>=', filter.after)
  }
  if (filter.before !== undefined) {
    query = query.where('conversations.created_at', '<=', filter.before)
  }
  if (filter.minMessages !== undefined) {
    query = query.where('message_count', '>=', filter.minMessages)
  }
  if (filter.maxMessages !== undefined) {
    query = query.where('message_count', '<=', filter.maxMessages)
  }
  if (firstTag !== undefined) {
    query = query
      .innerJoin(
        objectsWithTag(db, botId, 'conversation', firstTag),
        'tagged.object_id',
        'conversations.id',
      )
      .where(({ ref }) => carriesAll(ref('conversations.id'), otherTags))
  }
  for (const userId of otherUsers) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('participants')
          .select('participants.user_id')
          .whereRef('participants.conversation_id', '=', 'conversations.id')
          .where('participants.user_id', '=', userId),
      ),
    )
  }
  return await paginate(query, page, 'conversations')
}

/** Ids of some conversations of a bot. */
export async function listConversationIds(db: Db, botId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('conversations')
    .select('id')
    .where('bot_id', '=', botId)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export async function deleteConversations(
  tx: Tx,
  botId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.deleteFrom('conversations').where('bot_id', '=', botId).where('id', 'in', ids).execute()
}

/** The conversations that belong to a user. */
export async function pageOwnedConversations(
  db: Db,
  botId: string,
  userId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<ConversationRow>> {
  const query = db
    .selectFrom('conversations')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('owner_user_id', '=', userId)
  return await paginate(query, page)
}

/** Removes a user as the owner of conversations. */
export async function disownConversations(tx: Tx, botId: string, userId: string): Promise<void> {
  await tx
    .updateTable('conversations')
    .set({ owner_user_id: null })
    .where('bot_id', '=', botId)
    .where('owner_user_id', '=', userId)
    .execute()
}

/** Native ids of the participants of a conversation, for joins. */
export function participantsOf(db: Db, conversationId: string) {
  return db
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', conversationId)
    .as('members')
}

/**
 * Ids of conversations with the alias of their installation, for joins by slices whose rows belong
 * to conversations.
 */
export function conversationOwners(executor: Db | Tx) {
  return executor.selectFrom('conversations').select(['id', 'integration']).as('owners')
}

const selectForUser = prepared<{ botId: string; id: string; userId: string }>()((db, parameter) =>
  db
    .selectFrom('conversations')
    .leftJoin('participants', (join) =>
      join
        .onRef('participants.conversation_id', '=', 'conversations.id')
        .on('participants.user_id', '=', parameter('userId')),
    )
    .selectAll('conversations')
    .select('participants.user_id as participant_id')
    .where('conversations.bot_id', '=', parameter('botId'))
    .where(({ or, eb }) =>
      or([
        eb('conversations.foreign_id', '=', parameter('id')),
        eb('conversations.id', '=', parameter('id')),
      ]),
    ),
)

/** The conversation with this foreign or native id, and whether the user takes part in it. */
export async function findConversationFor(
  executor: Db | Tx,
  { botId, userId }: Member,
  id: string,
): Promise<{ conversation: ConversationRow; participates: boolean } | undefined> {
  const row = await selectForUser.first(executor, { botId, id, userId })
  if (row === undefined) return undefined
  const { participant_id, ...conversation } = row
  return { conversation, participates: participant_id !== null }
}

/**
 * Makes a user the owner of a conversation without one. Only one of several concurrent callers
 * succeeds: the others wait for its commit and then find an owner.
 * @returns native id of the conversation; undefined if it has an owner already
 */
export async function claimConversation(
  tx: Tx,
  botId: string,
  id: string,
  userId: string,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('conversations')
    .set({ claimable: 0, owner_user_id: userId })
    .where('bot_id', '=', botId)
    .where(({ or, eb }) => or([eb('foreign_id', '=', id), eb('id', '=', id)]))
    .where('claimable', '=', 1)
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** @returns whether the user was added */
export async function insertParticipant(
  tx: Tx,
  row: Insertable<ParticipantsTable>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('participants')
    .values(row)
    .onConflict((conflict) => conflict.columns(['conversation_id', 'user_id']).doNothing())
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows) > 0
}

/** @returns whether the user took part */
export async function deleteParticipant(
  tx: Tx,
  botId: string,
  conversationId: string,
  userId: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('participants')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows) > 0
}

/** Removes a user from all conversations. */
export async function deleteParticipations(tx: Tx, botId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('participants')
    .where('bot_id', '=', botId)
    .where('user_id', '=', userId)
    .execute()
}

/** Removes all users from a conversation. */
export async function deleteParticipantsOf(
  tx: Tx,
  botId: string,
  conversationId: string,
): Promise<void> {
  await tx
    .deleteFrom('participants')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeParticipants(
  tx: Tx,
  botId: string,
  limit: number,
): Promise<number> {
  const result = await tx
    .deleteFrom('participants')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('conversation_id', 'user_id'),
        'in',
        selectFrom('participants')
          .select(['conversation_id', 'user_id'])
          .where('bot_id', '=', botId)
          .limit(limit)
          .$asTuple('conversation_id', 'user_id'),
      ),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Counts the conversations of each bot, up to `max` of each. */
export async function countConversations(
  db: Db,
  botIds: readonly string[],
  max: number,
): Promise<number[]> {
  const index = { table: 'conversations', columns: ['bot_id'], time: 'created_at' }
  const keys = botIds.map((bot_id) => ({ bot_id }))
  return await countUpTo(db, index, keys, max)
}

/** Counts the conversations of some bots together, up to `max`. */
export async function sumConversations(
  db: Db,
  botIds: readonly string[],
  max: number,
): Promise<UpTo> {
  const index = { table: 'conversations', columns: ['bot_id'], time: 'created_at' }
  return await sumUpTo(
    db,
    index,
    botIds.map((bot_id) => ({ bot_id })),
    max,
  )
}

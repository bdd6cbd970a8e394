import { type Insertable, sql } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { type PageRequest, paginate } from '../../platform/db/paginate.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../schema.js'
import type { ConversationRow } from './store.js'
import type { ParticipantsTable } from './table.js'

/** What a message needs to know about the conversation it is put into. */
export interface Place {
  /** Native id of the conversation. */
  id: string
  foreign_id: string | null
  /** Number of the event in the log of the conversation. */
  last_sequence: number
  /** Time of the message in milliseconds, later than that of any before it. */
  last_message_at: number
  /** Alias of the installation that the conversation belongs to. */
  integration: string
}

interface Advance {
  botId: string
  /** Native or foreign id. */
  conversationId: string
  /** Native id. */
  userId: string
  /** Milliseconds since the Unix epoch. */
  now: number
  /** The same as ISO 8601. */
  updatedAt: string
}

/** Written into the statement, because every parameter costs time. */
const one = sql.lit(1)

/**
 * The one statement by which a message gets its place: it counts the message, takes the next number
 * and a time after the last one, and does nothing unless the user takes part. The row lock that
 * comes with it makes messages of one conversation wait for each other, on either engine.
 */
const advanceBy = (column: 'id' | 'foreign_id') =>
  prepared<Advance>()<Place>((db, parameter, dialect) =>
    db
      .updateTable('conversations')
      .set((conversation) => ({
        message_count: conversation('message_count', '+', one),
        last_sequence: conversation('last_sequence', '+', one),
        last_message_at: dialect.greater(
          conversation('last_message_at', '+', one),
          parameter('now'),
        ),
        updated_at: parameter('updatedAt'),
      }))
      .where(column, '=', parameter('conversationId'))
      .where('bot_id', '=', parameter('botId'))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('participants')
            .select(one.as('one'))
            .whereRef('participants.conversation_id', '=', 'conversations.id')
            .where('participants.user_id', '=', parameter('userId')),
        ),
      )
      .returning(['id', 'foreign_id', 'last_sequence', 'last_message_at', 'integration']),
  )

const advanceByNativeId = advanceBy('id')
const advanceByForeignId = advanceBy('foreign_id')

/** The place of the next message of a participant; undefined if there is no such participant. */
export async function advanceConversation(tx: Tx, advance: Advance): Promise<Place | undefined> {
  // Foreign ids may look like native ones, but none equals the native id of a conversation.
  if (advance.conversationId.startsWith('conv_')) {
    const place = await advanceByNativeId.first(tx, advance)
    if (place !== undefined) return place
  }
  return await advanceByForeignId.first(tx, advance)
}

const advanceForAnyone = prepared<Omit<Advance, 'userId'>>()<Place>((db, parameter, dialect) =>
  db
    .updateTable('conversations')
    .set((conversation) => ({
      message_count: conversation('message_count', '+', one),
      last_sequence: conversation('last_sequence', '+', one),
      last_message_at: dialect.greater(conversation('last_message_at', '+', one), parameter('now')),
      updated_at: parameter('updatedAt'),
    }))
    .where('id', '=', parameter('conversationId'))
    .where('bot_id', '=', parameter('botId'))
    .returning(['id', 'foreign_id', 'last_sequence', 'last_message_at', 'integration']),
)

/** The place of the next message of somebody whose part was checked; by native id. */
export async function advanceForAuthor(
  tx: Tx,
  advance: Omit<Advance, 'userId'>,
): Promise<Place | undefined> {
  return await advanceForAnyone.first(tx, advance)
}

/** Counts a message that was written elsewhere at some time, in milliseconds; by native id. */
export async function countImported(
  tx: Tx,
  botId: string,
  conversationId: string,
  writtenAt: number,
): Promise<void> {
  const dialect = dialectOf(tx)
  await tx
    .updateTable('conversations')
    .set(({ eb, ref, val }) => ({
      message_count: eb('message_count', '+', 1),
      last_message_at: dialect.greater(
        ref('last_message_at'),
        sql`cast(${val(writtenAt)} as bigint)`,
      ),
    }))
    .where('id', '=', conversationId)
    .where('bot_id', '=', botId)
    .execute()
}

/** The user with this native id, if it takes part in the conversation. */
export async function findParticipant(
  db: Db,
  botId: string,
  conversationId: string,
  userId: string,
) {
  return await db
    .selectFrom('users')
    .innerJoin('participants', 'participants.user_id', 'users.id')
    .selectAll('users')
    .where('participants.conversation_id', '=', conversationId)
    .where('users.id', '=', userId)
    .where('users.bot_id', '=', botId)
    .executeTakeFirst()
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
  botId: string,
  id: string,
  userId: string,
): Promise<{ conversation: ConversationRow; participates: boolean } | undefined> {
  const row = await selectForUser.first(executor, { botId, id, userId })
  if (row === undefined) return undefined
  const { participant_id, ...conversation } = row
  return { conversation, participates: participant_id !== null }
}

/**
 * Gives a conversation that belongs to nobody to a user. Of several who try only one succeeds: the
 * others wait for its commit and then find that it belongs to somebody.
 * @returns native id of the conversation; undefined if it could not be had
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

const takeNext = prepared<{ botId: string; conversationId: string; removedMessages: number }>()(
  (db, parameter) =>
    db
      .updateTable('conversations')
      .set((conversation) => ({
        last_sequence: conversation('last_sequence', '+', one),
        message_count: conversation('message_count', '-', parameter('removedMessages')),
      }))
      .where('id', '=', parameter('conversationId'))
      .where('bot_id', '=', parameter('botId'))
      .returning('last_sequence'),
)

/** The next number in the log of a conversation, by native id; the row stays locked. */
export async function takeNumber(
  tx: Tx,
  counted: { botId: string; conversationId: string; removedMessages: number },
): Promise<Pick<Place, 'last_sequence'> | undefined> {
  return await takeNext.first(tx, counted)
}

/** @returns whether the user takes part only now */
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

/** Takes a user out of all conversations. */
export async function deleteParticipations(tx: Tx, botId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('participants')
    .where('bot_id', '=', botId)
    .where('user_id', '=', userId)
    .execute()
}

/** Takes all users out of a conversation. */
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

/** The users who take part in a conversation, by native id. */
export async function pageParticipants(
  db: Db,
  botId: string,
  conversationId: string,
  page: PageRequest<'created_at'>,
) {
  const query = db
    .selectFrom('users')
    .innerJoin('participants', 'participants.user_id', 'users.id')
    .selectAll('users')
    .where('participants.conversation_id', '=', conversationId)
    .where('users.bot_id', '=', botId)
  return await paginate(query, page, 'users')
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

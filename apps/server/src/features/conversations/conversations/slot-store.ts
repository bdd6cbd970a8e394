import { sql } from 'kysely'
import { isoTime } from '../../../platform/clock.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Tx } from '../../../platform/db/schema.js'

/** A conversation inside a bot. */
export interface ConversationRef {
  botId: string
  /** Native id. */
  id: string
}

/** A user inside a bot. */
export interface Member {
  botId: string
  /** Native id. */
  userId: string
}

/** The properties that a message gets from its conversation: its number, its time and the owning integration. */
export interface MessageSlot {
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

interface SlotRequest {
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

/** A literal, because each parameter slows down the statement. */
const one = sql.lit(1)

/**
 * The one statement that takes the slot of a message: it counts the message, takes the next number
 * and a time after the last one, and does nothing unless the user takes part. Its row lock
 * serialises the messages of one conversation, on either database.
 */
const takeBy = (column: 'id' | 'foreign_id') =>
  prepared<SlotRequest>()<MessageSlot>((db, parameter, dialect) =>
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

const takeByNativeId = takeBy('id')
const takeByForeignId = takeBy('foreign_id')

/**
 * Takes the slot of the next message of a participant, by a foreign or native id of the conversation;
 * undefined if the user takes part in no such conversation.
 * @param now milliseconds since the Unix epoch
 */
export async function takeSlotOfParticipant(
  tx: Tx,
  { botId, userId }: Member,
  conversationId: string,
  now: number,
): Promise<MessageSlot | undefined> {
  const request = { botId, conversationId, userId, now, updatedAt: isoTime(now) }
  // Foreign ids may look like native ones, but none equals the native id of a conversation.
  if (conversationId.startsWith('conv_')) {
    const slot = await takeByNativeId.first(tx, request)
    if (slot !== undefined) return slot
  }
  return await takeByForeignId.first(tx, request)
}

const takeForAnyone = prepared<Omit<SlotRequest, 'userId'>>()<MessageSlot>(
  (db, parameter, dialect) =>
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
      .where('id', '=', parameter('conversationId'))
      .where('bot_id', '=', parameter('botId'))
      .returning(['id', 'foreign_id', 'last_sequence', 'last_message_at', 'integration']),
)

/** Takes the slot of the next message of an author whose participation was checked; by native id. */
export async function takeSlotOfAuthor(
  tx: Tx,
  { botId, id }: ConversationRef,
  now: number,
): Promise<MessageSlot | undefined> {
  return await takeForAnyone.first(tx, {
    botId,
    conversationId: id,
    now,
    updatedAt: isoTime(now),
  })
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
): Promise<Pick<MessageSlot, 'last_sequence'> | undefined> {
  return await takeNext.first(tx, counted)
}

import type { Insertable } from 'kysely'
import { type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { ConversationRow } from './store.js'
import type { ParticipantsTable } from './table.js'

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

import type { Selectable } from 'kysely'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { MessagesTable } from './table.js'

export type MessageRow = Selectable<MessagesTable>

const insert = prepared<MessageRow>()((db, parameter) =>
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

/** Of the hot path: nothing is awaited here that the caller awaits anyway. */
export function insertMessage(tx: Tx, row: MessageRow): Promise<unknown> {
  return insert(tx, row)
}

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

/** Those of some messages that there are, in no order. */
export async function listMessages(
  db: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<MessageRow[]> {
  const [first, ...others] = ids
  if (first === undefined) return []
  // One alone is what a listener of a quiet conversation asks for with every message.
  if (others.length === 0) return await selectOne(db, { botId, id: first })
  return await selectSome(db, { botId, ids: JSON.stringify([...new Set(ids)]) })
}

/** @returns whether it was there */
export async function deleteMessage(tx: Tx, botId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('messages')
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows) > 0
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

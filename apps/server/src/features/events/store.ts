import type { Selectable, Updateable } from 'kysely'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../schema.js'
import type { BotEventsTable } from './table.js'

export type EventRow = Selectable<BotEventsTable>

/** What a list of events is narrowed to; undefined for anything. */
export interface EventFilter {
  /** Alias of the integration that made them. */
  integration: string | undefined
  type: string | undefined
  conversationId: string | undefined
  userId: string | undefined
  messageId: string | undefined
  workflowId: string | undefined
  status: EventRow['status'] | undefined
}

const insert = prepared<EventRow>()((db, parameter) =>
  db.insertInto('bot_events').values({
    id: parameter('id'),
    bot_id: parameter('bot_id'),
    integration: parameter('integration'),
    type: parameter('type'),
    payload: parameter('payload'),
    conversation_id: parameter('conversation_id'),
    user_id: parameter('user_id'),
    message_id: parameter('message_id'),
    workflow_id: parameter('workflow_id'),
    recurring: parameter('recurring'),
    status: parameter('status'),
    failure_reason: parameter('failure_reason'),
    created_at: parameter('created_at'),
  }),
)

/** Of the hot path of bots that listen. */
export function insertEvent(tx: Tx, row: EventRow): Promise<unknown> {
  return insert(tx, row)
}

export async function findEvent(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<EventRow | undefined> {
  return await executor
    .selectFrom('bot_events')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .executeTakeFirst()
}

export async function pageEvents(
  db: Db,
  botId: string,
  filter: EventFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<EventRow>> {
  const columns = [
    ['integration', filter.integration],
    ['type', filter.type],
    ['conversation_id', filter.conversationId],
    ['user_id', filter.userId],
    ['message_id', filter.messageId],
    ['workflow_id', filter.workflowId],
    ['status', filter.status],
  ] as const
  let query = db.selectFrom('bot_events').selectAll().where('bot_id', '=', botId)
  for (const [column, value] of columns) {
    if (value !== undefined) query = query.where(column, '=', value)
  }
  return await paginate(query, page)
}

/**
 * Changes an event that has one of some statuses, and answers it as it is then; undefined if there
 * is none. Whoever else wants to change it waits, so that of two only one succeeds.
 */
export async function patchEvent(
  tx: Tx,
  botId: string,
  id: string,
  from: readonly EventRow['status'][],
  patch: Updateable<BotEventsTable>,
): Promise<EventRow | undefined> {
  return await tx
    .updateTable('bot_events')
    .set(patch)
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .where('status', 'in', from)
    .returningAll()
    .executeTakeFirst()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeEvents(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('bot_events')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_events').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * Removes events made before an ISO 8601 time; those that are still to come stay.
 * @returns how many were deleted, at most `limit`
 */
export async function deleteOldEvents(tx: Tx, before: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('bot_events')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_events')
        .select('id')
        .where('created_at', '<', before)
        .where('status', '<>', 'scheduled')
        .orderBy('created_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

import {
  type Expression,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely'
import type { NeededSubjects } from '../../../domain/deliveries.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BotEventsTable } from './table.js'

export type EventRow = Selectable<BotEventsTable>

/** Ids of the events of a bot whose delivery was requested since an ISO 8601 time. */
export type RequestedEvents = (tx: Tx, botId: string, since: string) => Expression<string>

/** Filter of a list of events; undefined members match anything. */
export interface EventFilter {
  /** Alias of the integration that created them. */
  integration: string | undefined
  type: string | undefined
  conversationId: string | undefined
  userId: string | undefined
  messageId: string | undefined
  workflowId: string | undefined
  status: EventRow['status'] | undefined
}

/** On the hot path of bots with an address. */
export const insertEvent = prepared<EventRow>()((db, parameter) =>
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

/**
 * The events with these ids that exist, in no order; `ids` is a JSON array. On the path of each
 * delivery.
 */
export const findEvents = prepared<{ botId: string; ids: string }>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('ids')))
    .crossJoin('bot_events')
    .whereRef('bot_events.id', '=', 'given.value')
    .selectAll('bot_events')
    .where('bot_id', '=', p('botId')),
)

/** Ids of the subjects of events, for joins. */
export function eventSubjects(executor: Db | Tx) {
  return executor
    .selectFrom('bot_events')
    .select(['id', 'bot_id', 'type', 'user_id', 'workflow_id', 'conversation_id'])
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

/** Whether an event reports a message to the bot, as a condition of a query of messages. */
export function isReported(messageId: Expression<string>): RawBuilder<SqlBool> {
  return sql`exists (select 1 from bot_events where bot_events.message_id = ${messageId} and bot_events.type = 'message_created')`
}

/** Pending events since an ISO 8601 time for which no delivery was requested, newest first. */
export async function listUnsentEvents(
  tx: Tx,
  botId: string,
  since: string,
  limit: number,
  requested: RequestedEvents,
): Promise<EventRow[]> {
  return await tx
    .selectFrom('bot_events')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('status', '=', 'pending')
    // A list, which is read once: `exists` read all deliveries of that time for each event.
    .where('id', 'not in', requested(tx, botId, since))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/**
 * Changes an event that has one of some statuses, and returns the new row; undefined if there is
 * none. Concurrent changes wait, so that only one of them succeeds.
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

const settle = prepared<{
  botId: string
  ids: string
  status: EventRow['status']
  reason: string | null
}>()((db, p, dialect) =>
  db
    .with('unsettled', (cte) =>
      // Locked in one order, as those of a deleted bot are.
      dialect.lockRows(
        cte
          .selectFrom(dialect.jsonTexts(p('ids')))
          .crossJoin('bot_events')
          .whereRef('bot_events.id', '=', 'given.value')
          .select('bot_events.id')
          .where('bot_id', '=', p('botId'))
          .where('status', 'in', ['pending', 'failed'])
          .orderBy('bot_events.id'),
      ),
    )
    .updateTable('bot_events')
    .set({ status: p('status'), failure_reason: p('reason') })
    .where('id', 'in', ({ selectFrom }) => selectFrom('unsettled').select('unsettled.id'))
    .returning('recurring'),
)

/**
 * Records that a bot accepted events, or why it did not.
 * @returns names of the recurring events that created some of them
 */
export async function settleEvents(
  tx: Tx,
  botId: string,
  ids: readonly string[],
  reason: string | null,
): Promise<string[]> {
  const status = reason === null ? 'processed' : 'failed'
  const rows = await settle(tx, { botId, ids: JSON.stringify(ids), status, reason })
  return rows.flatMap(({ recurring }) => recurring ?? [])
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeEvents(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .with('own', (cte) =>
      dialectOf(tx).lockRows(
        cte
          .selectFrom('bot_events')
          .select('id')
          .where('id', 'in', ({ selectFrom }) =>
            selectFrom('bot_events').select('id').where('bot_id', '=', botId).limit(limit),
          )
          .orderBy('id'),
      ),
    )
    .deleteFrom('bot_events')
    .where('id', 'in', ({ selectFrom }) => selectFrom('own').select('id'))
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * Deletes events that happened before an ISO 8601 time; scheduled ones stay.
 * @param needed other events that stay
 * @returns how many were deleted, at most `limit`
 */
export async function deleteOldEvents(
  tx: Tx,
  before: string,
  limit: number,
  needed: NeededSubjects,
): Promise<number> {
  const result = await tx
    .deleteFrom('bot_events')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_events')
        .leftJoin(needed, 'needed.subject_id', 'bot_events.id')
        .select('id')
        .where('needed.subject_id', 'is', null)
        .where('created_at', '<', before)
        .where('status', '<>', 'scheduled')
        .where(({ eb, or }) => or([eb('released_at', 'is', null), eb('released_at', '<', before)]))
        .orderBy('created_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

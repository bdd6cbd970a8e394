import { type Selectable, sql } from 'kysely'
import { type Receiver, receiverKey } from '../../domain/deliveries.js'
import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { DeliveriesTable } from './table.js'

export type DeliveryRow = Selectable<DeliveriesTable>

/** The columns that name the receiver of a delivery. */
export type ReceiverColumns = Pick<DeliveryRow, 'bot_id' | 'integration'>

/** The receiver of a delivery. */
export function receiverIn({ bot_id: botId, integration }: ReceiverColumns): Receiver {
  return { botId, integration }
}

/** The key of its receiver, for maps and hints. */
export function receiverKeyOf(row: ReceiverColumns): string {
  return receiverKey(receiverIn(row))
}

/**
 * The condition of the partial indexes on pending deliveries. A literal, not a parameter: SQLite
 * would replan the query on each run to see whether such an index applies.
 */
export const isPending = sql<boolean>`status = 'pending'`

/**
 * The condition of the index on parked deliveries, which are pending. Without `isPending`, with which SQLite may
 * read all pending ones of the receiver.
 */
export const isParked = sql<boolean>`set_aside = 1`

/** The condition of the partial indexes on finished deliveries, as a literal too. */
export const isFinished = sql<boolean>`status <> 'pending'`

/** The columns that differ between new deliveries. */
export type NewDelivery = Pick<
  DeliveryRow,
  | 'id'
  | 'bot_id'
  | 'integration'
  | 'kind'
  | 'subject_id'
  | 'order_key'
  | 'position'
  | 'next_attempt_at'
  | 'traceparent'
  | 'created_at'
>

/** On the hot path of bots that listen. */
export const insertDelivery = prepared<NewDelivery>()((db, parameter) =>
  db.insertInto('deliveries').values({
    id: parameter('id'),
    bot_id: parameter('bot_id'),
    integration: parameter('integration'),
    kind: parameter('kind'),
    subject_id: parameter('subject_id'),
    order_key: parameter('order_key'),
    position: parameter('position'),
    status: 'pending',
    attempts: 0,
    spent: 0,
    owner: null,
    next_attempt_at: parameter('next_attempt_at'),
    set_aside: 0,
    last_error: null,
    code_ends: null,
    traceparent: parameter('traceparent'),
    created_at: parameter('created_at'),
    updated_at: parameter('created_at'),
  }),
)

/** Counts pending deliveries and returns the time of the oldest, by whether they are parked. */
export async function countPending(db: Db) {
  return await db
    .selectFrom('deliveries')
    .select(({ fn }) => [
      'set_aside',
      fn.countAll<number>().as('count'),
      fn.min('created_at').as('oldest'),
    ])
    .where(isPending)
    .groupBy('set_aside')
    .execute()
}

/**
 * Deletes rows of a deleted bot, one table at a time; it never waits for a lock while holding one
 * that others wait for.
 * @returns how many rows were deleted, at most `limit`
 */
export async function deleteSomeOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const { lockRows, lockFreeRows } = dialectOf(tx)
  const own = tx.selectFrom('deliveries').select('id').where('bot_id', '=', botId)
  const parts = [own.where(isPending), own.where(isFinished)]
  // Locked rows come last, one by one.
  const queries = [
    ...parts.map((part) => lockFreeRows(part.limit(limit))),
    ...parts.map((part) => lockRows(part.limit(1))),
  ]
  for (const query of queries) {
    const deliveries = await tx
      .with('own', () => query)
      .deleteFrom('deliveries')
      .where('id', 'in', ({ selectFrom }) => selectFrom('own').select('id'))
      .executeTakeFirst()
    if (deliveries.numDeletedRows > 0n) return Number(deliveries.numDeletedRows)
  }
  const attempts = await tx
    .deleteFrom('delivery_attempts')
    .where('delivery_id', 'in', ({ selectFrom }) =>
      selectFrom('delivery_attempts')
        .select('delivery_id')
        .where('bot_id', '=', botId)
        .limit(limit),
    )
    .executeTakeFirst()
  if (attempts.numDeletedRows > 0n) return Number(attempts.numDeletedRows)
  const queues = await tx
    .with('own', (cte) =>
      lockRows(
        cte
          .selectFrom('delivery_lines')
          .select('order_key')
          .where('order_key', 'in', ({ selectFrom }) =>
            selectFrom('delivery_lines')
              .select('order_key')
              .where('bot_id', '=', botId)
              .limit(limit),
          )
          .orderBy('order_key'),
      ),
    )
    .deleteFrom('delivery_lines')
    .where('order_key', 'in', ({ selectFrom }) => selectFrom('own').select('order_key'))
    .executeTakeFirst()
  if (queues.numDeletedRows > 0n) return Number(queues.numDeletedRows)
  const receivers = await tx
    .deleteFrom('delivery_receivers')
    .where('bot_id', '=', botId)
    .executeTakeFirst()
  return Number(receivers.numDeletedRows)
}

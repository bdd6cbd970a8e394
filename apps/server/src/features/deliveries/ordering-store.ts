import { sql } from 'kysely'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'
import type { DeliveryRow } from './store.js'

/**
 * Deliveries to one receiver with the same ordering key form a queue. Only the head of a queue has
 * a time at which to send it; when it ends, the next one becomes the head. So a receiver that is
 * down for a day leaves one row per queue to read, not one per message.
 *
 * The column `order_key` names the queue: the receiver, and the ordering key of the request.
 */

/** Name of the queue of an ordering key to one receiver. */
export function queueOf(botId: string, integration: string, orderingKey: string): string {
  return `${botId}/${integration}/${orderingKey}`
}

/** The ordering key of a delivery: the id of a conversation, for example. */
export function orderingKeyOf({
  bot_id: botId,
  integration,
  order_key: queue,
}: Pick<DeliveryRow, 'bot_id' | 'integration' | 'order_key'>): string | undefined {
  return queue?.slice(queueOf(botId, integration, '').length)
}

/** {@link orderingKeyOf} as SQL, of the table `d`. */
export const orderingKeyColumn = sql`substr(d.order_key, length(d.bot_id) + length(d.integration) + 3)`

/**
 * Sorts by queue: the order in which all transactions lock several queues, so that none deadlock.
 * Items of one queue keep their order.
 */
export function inLockOrder<T extends { queue: string | null }>(items: readonly T[]): T[] {
  const nameOf = ({ queue }: T) => queue ?? ''
  return items.toSorted((left, right) => {
    const [one, other] = [nameOf(left), nameOf(right)]
    return one < other ? -1 : Number(one > other)
  })
}

const join = prepared<{ order_key: string; bot_id: string }>()((db, p) =>
  db
    .insertInto('delivery_lines')
    .values({ order_key: p('order_key'), bot_id: p('bot_id'), last_position: 1, waiting: 1 })
    .onConflict((conflict) =>
      conflict.column('order_key').doUpdateSet((eb) => ({
        last_position: eb('delivery_lines.last_position', '+', 1),
        waiting: eb('delivery_lines.waiting', '+', 1),
      })),
    )
    .returning(['last_position', 'waiting']),
)

/**
 * Appends to a queue, and locks it until the end of the transaction, so that positions are in the
 * order of the commits, independent of clocks.
 * @returns the position, and whether it is the head
 */
export async function joinQueue(
  tx: Tx,
  botId: string,
  queue: string,
): Promise<{ position: number; isHead: boolean }> {
  const row = await join.first(tx, { order_key: queue, bot_id: botId })
  if (row === undefined) throw new Error('An upsert returns its row.')
  return { position: row.last_position, isHead: row.waiting === 1 }
}

const leave = prepared<{ queues: string }>()((db, p, dialect) =>
  db
    .with('held', (cte) =>
      // In one order, so that transactions do not deadlock.
      dialect.lockRows(
        cte
          .selectFrom('delivery_lines')
          .select('order_key')
          .where('order_key', 'in', ({ selectFrom }) =>
            selectFrom(dialect.jsonTexts(p('queues'))).select('given.value'),
          )
          .orderBy('order_key'),
      ),
    )
    .updateTable('delivery_lines')
    .set((eb) => ({ waiting: eb('waiting', '-', 1) }))
    .where('order_key', 'in', ({ selectFrom }) => selectFrom('held').select('order_key'))
    .returning(['order_key', 'waiting']),
)

const remove = prepared<{ queues: string }>()((db, p, dialect) =>
  db
    .deleteFrom('delivery_lines')
    .where('order_key', 'in', ({ selectFrom }) =>
      selectFrom(dialect.jsonTexts(p('queues'))).select('given.value'),
    ),
)

/**
 * Removes the heads of queues, one each, in the transaction that ends those deliveries.
 * @returns the queues that are not empty and need a new head
 */
export async function leaveQueues(tx: Tx, queues: readonly string[]): Promise<string[]> {
  if (queues.length === 0) return []
  // The queue of a bot that was deleted meanwhile is gone.
  const left = await leave(tx, { queues: JSON.stringify(queues) })
  const namesOf = (rows: typeof left) => rows.map(({ order_key }) => order_key)
  const empty = namesOf(left.filter(({ waiting }) => waiting <= 0))
  if (empty.length > 0) await remove(tx, { queues: JSON.stringify(empty) })
  return namesOf(left.filter(({ waiting }) => waiting > 0))
}

const beginHeads = prepared<{ queues: string; at: string; owner: string | null; begun: number }>()(
  (db, p, dialect) =>
    db
      .updateTable('deliveries')
      .set((eb) => ({
        next_attempt_at: p('at'),
        owner: p('owner'),
        attempts: eb('attempts', '+', p('begun')),
      }))
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom(dialect.jsonTexts(p('queues'))).select((eb) =>
          eb
            .selectFrom('deliveries as first')
            .select('first.id')
            .whereRef('first.order_key', '=', 'given.value')
            .where(sql<boolean>`first.status = 'pending'`)
            .orderBy('first.position')
            .limit(1)
            .as('id'),
        ),
      )
      .returningAll(),
)

/** Makes the new heads of queues due at an ISO 8601 time. */
export async function releaseHeads(tx: Tx, queues: readonly string[], at: string): Promise<void> {
  if (queues.length === 0) return
  await beginHeads(tx, { queues: JSON.stringify(queues), at, owner: null, begun: 0 })
}

/** The owner and lease for claiming the next delivery of a queue. */
export interface NextClaim {
  owner: string
  /** ISO 8601 time. */
  leaseUntil: string
}

/** Claims the new heads of queues, and returns them. */
export async function claimHeads(
  tx: Tx,
  queues: readonly string[],
  { owner, leaseUntil }: NextClaim,
): Promise<DeliveryRow[]> {
  if (queues.length === 0) return []
  return await beginHeads(tx, { queues: JSON.stringify(queues), at: leaseUntil, owner, begun: 1 })
}

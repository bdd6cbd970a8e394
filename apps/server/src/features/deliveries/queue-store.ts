import { sql } from 'kysely'
import type { DeliveryRef } from '../../domain/deliveries.js'
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

/** Identifies a delivery in domain events. */
export function refOf(row: DeliveryRow): DeliveryRef {
  const { bot_id: botId, kind, subject_id: subjectId } = row
  return { botId, kind, subjectId, orderingKey: orderingKeyOf(row) }
}

/** {@link orderingKeyOf} as SQL, of the table `d`. */
export const orderingKeyColumn = sql`substr(d.order_key, length(d.bot_id) + length(d.integration) + 3)`

/**
 * Sorts by queue: the order in which all transactions lock several queues, so that none deadlock.
 * Deliveries of one queue keep their order.
 */
export function inLockOrder<Row extends Pick<DeliveryRow, 'order_key'>>(
  deliveries: readonly Row[],
): Row[] {
  return deliveries.toSorted(({ order_key: left }, { order_key: right }) => {
    const [one, other] = [left ?? '', right ?? '']
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
 * Appends a delivery to its queue, and locks the queue until the end of the transaction, so that
 * positions are in the order of the commits, independent of clocks.
 * @returns the position, and whether it is the head; a delivery without a queue waits for no other
 */
export async function joinQueue(
  tx: Tx,
  { bot_id, order_key }: Pick<DeliveryRow, 'bot_id' | 'order_key'>,
): Promise<{ position: number; isHead: boolean }> {
  if (order_key === null) return { position: 0, isHead: true }
  const row = await join.first(tx, { order_key, bot_id })
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

/** The owner and lease for claiming the next delivery of a queue. */
export interface NextClaim {
  owner: string
  /** ISO 8601 time. */
  leaseUntil: string
}

/**
 * Removes the heads of queues, one each, in the transaction that ends those deliveries, and makes
 * the next deliveries the heads: due at once, or claimed.
 * @param ended the queues, each with the claim of its next delivery, or undefined to make it due;
 * the claims are of one owner
 * @param now ISO 8601 time
 * @returns the claimed deliveries, by their queues
 */
export async function advanceQueues(
  tx: Tx,
  ended: ReadonlyMap<string, NextClaim | undefined>,
  now: string,
): Promise<Map<string | null, DeliveryRow>> {
  if (ended.size === 0) return new Map()
  const empty: string[] = []
  const due: string[] = []
  const claimed: string[] = []
  let claim: NextClaim | undefined
  // The queue of a bot that was deleted meanwhile is gone.
  for (const { order_key, waiting } of await leave(tx, {
    queues: JSON.stringify([...ended.keys()]),
  })) {
    const nextClaim = ended.get(order_key)
    if (waiting <= 0) empty.push(order_key)
    else if (nextClaim === undefined) due.push(order_key)
    else {
      claimed.push(order_key)
      claim ??= nextClaim
    }
  }
  if (empty.length > 0) await remove(tx, { queues: JSON.stringify(empty) })
  if (due.length > 0) {
    await beginHeads(tx, { queues: JSON.stringify(due), at: now, owner: null, begun: 0 })
  }
  if (claim === undefined) return new Map()
  const { owner, leaseUntil: at } = claim
  const next = await beginHeads(tx, { queues: JSON.stringify(claimed), at, owner, begun: 1 })
  return new Map(next.map((row) => [row.order_key, row]))
}

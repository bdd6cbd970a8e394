import { type DeliveryRequest, type Receiver, receiverKey } from '../../domain/deliveries.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit, beforeCommit } from '../../platform/db/commit-hooks.js'
import type { Tx } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import { inLockOrder, joinQueue, queueOf } from './ordering-store.js'
import { insertDelivery, receiverIn } from './store.js'

/** Enqueues deliveries in the transaction of their subjects. */
export interface Outbox {
  /** Enqueues a delivery in the transaction, at the latest when it commits. Returns its id. */
  enqueue(tx: Tx, delivery: DeliveryRequest): Promise<string>
}

export interface OutboxDeps {
  clock: Clock
  ids: Ids
  bus: EventBus
}

type NewRow = Parameters<typeof insertDelivery>[1]

/** A delivery without a position in its queue yet. */
interface Joining {
  queue: string
  row: NewRow
}

export function createOutbox({ clock, ids, bus }: OutboxDeps): Outbox {
  const joining = new WeakMap<Tx, Joining[]>()

  async function insert(tx: Tx, row: NewRow): Promise<void> {
    await insertDelivery(tx, row)
    if (row.next_attempt_at === null) return
    afterCommit(tx, () => announceDelivery(bus, receiverIn(row)))
  }

  /** Joins all queues in the order in which settling and replays lock them. */
  async function joinAll(tx: Tx, waiting: readonly Joining[]): Promise<void> {
    joining.delete(tx)
    for (const { queue, row } of inLockOrder(waiting)) {
      const { position, isHead } = await joinQueue(tx, row.bot_id, queue)
      await insert(tx, { ...row, position, next_attempt_at: isHead ? row.next_attempt_at : null })
    }
  }

  return {
    async enqueue(tx, { botId, integration = '', kind, subjectId, orderingKey }) {
      const now = isoTime(clock.now())
      // Each receiver has its own queue, so that receivers do not delay each other.
      const queue = orderingKey === undefined ? null : queueOf(botId, integration, orderingKey)
      const row: NewRow = {
        id: ids.next('delivery'),
        bot_id: botId,
        integration,
        kind,
        subject_id: subjectId,
        order_key: queue,
        position: 0,
        next_attempt_at: now,
        created_at: now,
      }
      if (queue === null) {
        await insert(tx, row)
        return row.id
      }
      const waiting = joining.get(tx)
      if (waiting !== undefined) waiting.push({ queue, row })
      else {
        const first = [{ queue, row }]
        joining.set(tx, first)
        beforeCommit(tx, () => joinAll(tx, first))
      }
      return row.id
    },
  }
}

/** Topic of the hints that there are deliveries; the key names the receiver. */
export const deliveriesTopic = 'deliveries'

/** Topic of the hints that a receiver was changed, paused or resumed; the key is the id of the bot. */
export const receiversTopic = 'delivery-receivers'

/** Wakes the dispatchers of all processes. Called after the commit. */
export function announceDelivery(bus: EventBus, receiver: Receiver): void {
  bus.publish({ topic: deliveriesTopic, key: receiverKey(receiver) })
}

/**
 * Notifies the dispatchers of all processes that caches of a bot are stale. Called after the
 * commit.
 */
export function announceReceiver(bus: EventBus, botId: string): void {
  bus.publish({ topic: receiversTopic, key: botId })
}

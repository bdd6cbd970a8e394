import type { DeliveryRequest } from '../../domain/deliveries.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Tx } from '../../platform/db/schema.js'
import { afterCommit, beforeCommit } from '../../platform/db/transaction.js'
import type { Ids } from '../../platform/ids.js'
import { messagingAttributes, type Span, type Tracing } from '../../platform/telemetry/tracing.js'
import { inLockOrder, joinQueue, queueOf } from './queue-store.js'
import { insertDelivery, type NewDelivery, type ReceiverColumns, receiverKeyOf } from './store.js'

/** Enqueues deliveries in the transaction of their subjects. */
export interface Outbox {
  /** Enqueues a delivery, which is stored when the transaction commits. Returns its id. */
  enqueue(tx: Tx, delivery: DeliveryRequest): Promise<string>
}

export interface OutboxDeps {
  clock: Clock
  ids: Ids
  bus: EventBus
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
}

/** Makes the outbox. It wakes the dispatchers of all processes after the commit. */
export function createOutbox({ clock, ids, bus, tracing }: OutboxDeps): Outbox {
  /** Deliveries of open transactions. */
  const enqueued = new WeakMap<Tx, NewDelivery[]>()

  /**
   * Stores the deliveries of a transaction. It joins all queues at its end, in the order in which settling
   * and replays lock them.
   */
  async function store(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
    enqueued.delete(tx)
    for (const delivery of inLockOrder(deliveries)) {
      const { position, isHead } = await joinQueue(tx, delivery)
      const next_attempt_at = isHead ? delivery.next_attempt_at : null
      await insertDelivery(tx, { ...delivery, position, next_attempt_at })
      if (isHead) afterCommit(tx, () => announceDelivery(bus, delivery))
    }
  }

  /** Begins the span of a delivery that is part of a trace; it ends with the commit. */
  function traceOf(tx: Tx, id: string, { botId, kind, orderingKey }: DeliveryRequest) {
    if (tracing?.current() === undefined) return undefined
    const span: Span = tracing.begin('send deliveries', {
      kind: 'producer',
      attributes: messagingAttributes('send', 'deliveries', {
        'messaging.message.id': id,
        ...(orderingKey !== undefined && { 'messaging.message.conversation_id': orderingKey }),
        'botstead.bot.id': botId,
        'botstead.delivery.kind': kind,
      }),
    })
    afterCommit(tx, () => span.end())
    return span.traceparent
  }

  return {
    async enqueue(tx, request) {
      const { botId, integration = '', kind, subjectId, orderingKey } = request
      const now = isoTime(clock.now())
      const id = ids.next('delivery')
      const delivery: NewDelivery = {
        id,
        bot_id: botId,
        integration,
        kind,
        subject_id: subjectId,
        // Each receiver has its own queue, so that receivers do not delay each other.
        order_key: orderingKey === undefined ? null : queueOf(botId, integration, orderingKey),
        position: 0,
        next_attempt_at: now,
        traceparent: traceOf(tx, id, request) ?? null,
        created_at: now,
      }
      const earlier = enqueued.get(tx)
      if (earlier !== undefined) earlier.push(delivery)
      else {
        const deliveries = [delivery]
        enqueued.set(tx, deliveries)
        beforeCommit(tx, () => store(tx, deliveries))
      }
      return delivery.id
    },
  }
}

/** Topic of the hints that there are deliveries; the key is that of the receiver. */
export const deliveriesTopic = 'deliveries'

/** Topic of the hints that a receiver was changed, paused or resumed; the key is the id of the bot. */
export const receiversTopic = 'delivery-receivers'

/** Wakes the dispatchers of all processes. Called after the commit. */
export function announceDelivery(bus: EventBus, delivery: ReceiverColumns): void {
  bus.publish({ topic: deliveriesTopic, key: receiverKeyOf(delivery) })
}

/**
 * Notifies the dispatchers of all processes that caches of a bot are stale. Called after the
 * commit.
 */
export function announceReceiver(bus: EventBus, botId: string): void {
  bus.publish({ topic: receiversTopic, key: botId })
}

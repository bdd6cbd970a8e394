import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import * as history from './history-store.js'
import { announceDelivery } from './outbox.js'
import { joinQueue, refOf } from './queue-store.js'
import type { DeliveryRow } from './store.js'

export interface ReplayingDeps {
  clock: Clock
  bus: EventBus
  domainEvents: Pick<EventDispatcher, 'raise'>
}

/** Appends a finished delivery, locked by the caller, to its queue. */
export type ReplayIn = (tx: Tx, delivery: DeliveryRow) => Promise<void>

export function createReplayIn({ clock, bus, domainEvents }: ReplayingDeps): ReplayIn {
  return async (tx, delivery) => {
    const now = isoTime(clock.now())
    const { position, isHead } = await joinQueue(tx, delivery)
    await history.reopen(tx, delivery, { position, nextAttemptAt: isHead ? now : null }, now)
    await domainEvents.raise(tx, 'delivery.reopened', refOf(delivery))
    afterCommit(tx, () => announceDelivery(bus, delivery))
  }
}

import type { EventBus } from '../bus/event-bus.js'
import { afterCommit } from '../db/after-commit.js'
import type { Tx } from '../db/schema.js'
import { appendEvent, type NewEvent } from './append.js'

/** Topic of the hints about events; the key is the stream. */
export const eventsTopic = 'events'

/** Wakes those who follow the stream. Called after the commit with the highest number written. */
export function announceEvents(bus: EventBus, stream: string, sequence: number): void {
  bus.publish({ topic: eventsTopic, key: stream, seq: sequence })
}

type NumberedEvent = NewEvent & { sequence: number }

/** Called in the transaction of each event; it awaits nothing but queries of `tx`. */
type EventTap = (tx: Tx, event: NumberedEvent) => Promise<void> | undefined

/** Writes events and wakes those who follow the log, after the commit. */
export interface EventPublisher {
  /** Writes an event whose number the caller has counted, see `appendEvent`. */
  publish(tx: Tx, event: NumberedEvent): Promise<void>
  /** Adds work that has to happen with every event, in the same transaction. */
  tap(tap: EventTap): void
}

export function createEventPublisher(bus: EventBus): EventPublisher {
  const taps: EventTap[] = []
  return {
    async publish(tx, event) {
      await appendEvent(tx, event)
      afterCommit(tx, () => announceEvents(bus, event.stream, event.sequence))
      for (const tap of taps) {
        // Most taps have nothing to do with most events: nothing is awaited for them.
        const work = tap(tx, event)
        if (work !== undefined) await work
      }
    },
    tap(tap) {
      taps.push(tap)
    },
  }
}

import type { EventBus } from '../bus/event-bus.js'

/** Topic of the hints about events; the key is the stream. */
export const eventsTopic = 'events'

/** Wakes those who follow the stream. Called after the commit with the highest number written. */
export function announceEvents(bus: EventBus, stream: string, sequence: number): void {
  bus.publish({ topic: eventsTopic, key: stream, seq: sequence })
}

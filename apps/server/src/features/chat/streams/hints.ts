import type { EventBus } from '../../../platform/bus/event-bus.js'

/** Topic of the hints that a user was deleted, or its keys ended; the key is its native id. */
export const goneUsersTopic = 'gone-users'

/** Ends the streams of a user that may not listen any more, in all processes. Called after the commit. */
export function announceGoneUser(bus: EventBus, userId: string): void {
  bus.publish({ topic: goneUsersTopic, key: userId })
}

import type { EventBus } from '../../platform/bus/event-bus.js'

/** Topic of the hints that a user was deleted; the key is its native id. */
export const goneUsersTopic = 'gone-users'

/** Ends the streams of a deleted user in all processes. Called after the commit. */
export function announceGoneUser(bus: EventBus, userId: string): void {
  bus.publish({ topic: goneUsersTopic, key: userId })
}

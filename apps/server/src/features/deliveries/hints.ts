import type { EventBus } from '../../platform/bus/event-bus.js'

/** Topic of the hints that there is something to deliver; the key is the id of the bot. */
export const deliveriesTopic = 'deliveries'

/** Wakes those who send. Called after the commit. */
export function announceDelivery(bus: EventBus, botId: string): void {
  bus.publish({ topic: deliveriesTopic, key: botId })
}

import { type Receiver, receiverKey } from '../../domain/receiver.js'
import type { EventBus } from '../../platform/bus/event-bus.js'

/** Topic of the hints that there is something to deliver; the key names the receiver. */
export const deliveriesTopic = 'deliveries'

/** Topic of the hints that a receiver was changed, paused or resumed; the key is the id of the bot. */
export const receiversTopic = 'delivery-receivers'

/** Wakes those who send. Called after the commit. */
export function announceDelivery(bus: EventBus, receiver: Receiver): void {
  bus.publish({ topic: deliveriesTopic, key: receiverKey(receiver) })
}

/** Tells those who send that what they know of a bot is old. Called after the commit. */
export function announceReceiver(bus: EventBus, botId: string): void {
  bus.publish({ topic: receiversTopic, key: botId })
}

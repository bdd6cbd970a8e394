import type { EventBus } from '../../platform/bus/event-bus.js'

/** Topic of the hints that a file has moved on; the key is its id. */
export const fileTopic = 'file'

/** Wakes those who wait for a file. Called after the commit. */
export function announceFile(bus: EventBus, fileId: string): void {
  bus.publish({ topic: fileTopic, key: fileId })
}

import type { EventBus } from '../bus/event-bus.js'

/** Topic of the hints that there is something to do; the key is the kind of the jobs. */
export const jobsTopic = 'jobs'

/** Wakes the workers of a kind. Called after the commit. */
export function announceJobs(bus: EventBus, kind: string): void {
  bus.publish({ topic: jobsTopic, key: kind })
}

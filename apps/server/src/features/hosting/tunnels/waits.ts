import type { EventBus, Subscription } from '../../../platform/bus/event-bus.js'
import type { Timers } from '../../../platform/clock.js'

/** Waits for hints. A hint that is lost costs the time of the wait and nothing else. */
export interface Waits {
  /** Resolves with the next hint, or after some milliseconds, or when the signal aborts. */
  next(subscription: Subscription, milliseconds: number, signal?: AbortSignal): Promise<void>
}

export function createWaits({ bus, timers }: { bus: EventBus; timers: Timers }): Waits {
  return {
    async next(subscription, milliseconds, signal) {
      if (signal?.aborted) return
      await new Promise<void>((resolve) => {
        const end = () => {
          cancel()
          stop()
          signal?.removeEventListener('abort', end)
          resolve()
        }
        const cancel = timers.after(milliseconds, end)
        const stop = bus.subscribe(subscription, { onHint: end, onGap: end })
        signal?.addEventListener('abort', end)
      })
    },
  }
}

import type { Clock } from '../../platform/clock.js'
import { createLruCache } from '../../platform/lru-cache.js'

/**
 * The record of this process of programs that ended by themselves. A timer of the code, or of an earlier request, may end a
 * program just as well as the request that is open then.
 */
export interface Blame {
  /** Called when a program of a deployment ended without an open request. */
  endedByItself(deploymentId: string): void
  /** Whether one did so lately: no request can be blamed for an end of this deployment. */
  endsByItself(deploymentId: string): boolean
  /** Called when a program ended that got this request only. @param livedMs milliseconds since its start */
  endedWith(requestId: string, livedMs: number): void
  /**
   * Milliseconds that the next program must live before it gets this request: longer than the one before it lived. Code that
   * ends after some time, whatever it gets, ends meanwhile. Undefined: no program ended with it here.
   */
  waitOf(requestId: string): number | undefined
}

/** Milliseconds for which no request is blamed after an end without one. */
const rememberedMs = 15 * 60_000
/** Added to the life of the program before, because programs do not take equally long to start. */
const margin = { factor: 1.25, ms: 250 }
const maxWaitMs = 90_000
/** Maximum number of deployments, and of requests, that are remembered: the latest ones. */
const maxRemembered = 1000

export function createBlame(clock: Clock): Blame {
  const endedAt = createLruCache<string, number>(maxRemembered)
  const waits = createLruCache<string, number>(maxRemembered)
  return {
    endedByItself: (id) => void endedAt.set(id, clock.now()),
    endsByItself(id) {
      const at = endedAt.get(id)
      return at !== undefined && clock.now() - at < rememberedMs
    },
    endedWith(id, livedMs) {
      waits.set(id, Math.min(livedMs * margin.factor + margin.ms, maxWaitMs))
    },
    waitOf: (id) => waits.get(id),
  }
}

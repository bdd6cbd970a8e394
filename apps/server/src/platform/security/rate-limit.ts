import type { Clock } from '../clock.js'
import { createLruCache } from '../lru-cache.js'

export interface RateLimitOptions {
  /** Requests a minute that a key may keep up; a whole number. */
  perMinute: number
  /** Requests that a rested key may make at once; a whole number. */
  burst: number
  clock: Clock
  /** Keys remembered at most; the one that was quiet longest is forgotten first. */
  maxKeys?: number
}

/** Decision on one request, in the terms of the `RateLimit-*` and `Retry-After` headers. */
export interface RateLimitDecision {
  allowed: boolean
  /** Requests that a rested key may make at once. */
  limit: number
  /** Requests that would be allowed right now, this one not counted. */
  remaining: number
  /** Seconds until the whole burst is available again. */
  resetSeconds: number
  /** Seconds until the next request is allowed; 0 while some remain. */
  retryAfterSeconds: number
}

/** Limits the requests of each key. */
export interface RateLimiter {
  /**
   * Counts one request of the key and decides whether it may proceed. Refused ones cost nothing.
   * @param amount as how many requests it counts; a whole number of at most `burst`
   */
  take(key: string, amount?: number): RateLimitDecision
}

interface Bucket {
  level: number
  /** Time of the last refill, in milliseconds. */
  at: number
}

/** Cost of one request. A millisecond refills `perMinute`, so that all levels are whole numbers. */
const cost = 60_000
const defaultMaxKeys = 50_000

/**
 * Token buckets, one per key, in this process: several processes allow that many times more.
 * A key that is forgotten starts rested, which only a caller with very many keys could use.
 */
export function createRateLimiter(options: RateLimitOptions): RateLimiter {
  const { perMinute, burst, clock } = options
  const full = burst * cost
  const buckets = createLruCache<string, Bucket>(options.maxKeys ?? defaultMaxKeys)

  function levelOf(bucket: Bucket | undefined, now: number): number {
    if (!bucket) return full
    // A clock that stepped back refills nothing, and refilling goes on from its new time.
    const elapsed = Math.max(0, now - bucket.at)
    return Math.min(full, bucket.level + elapsed * perMinute)
  }

  function decide(allowed: boolean, level: number, price: number): RateLimitDecision {
    return {
      allowed,
      limit: burst,
      remaining: Math.floor(level / cost),
      resetSeconds: secondsFor(full - level),
      retryAfterSeconds: secondsFor(price - level),
    }
  }

  function secondsFor(missing: number): number {
    return missing <= 0 ? 0 : Math.ceil(missing / perMinute / 1000)
  }

  return {
    take(key, amount = 1) {
      const now = clock.now()
      const price = amount * cost
      const bucket = buckets.get(key)
      const before = levelOf(bucket, now)
      const allowed = before >= price
      const level = allowed ? before - price : before
      if (bucket) {
        bucket.level = level
        bucket.at = now
      } else {
        buckets.set(key, { level, at: now })
      }
      return decide(allowed, level, price)
    },
  }
}

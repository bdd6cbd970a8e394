const minPauseMs = 1000
const maxPauseMs = 30_000

/** Pauses between attempts, which grow from half a second to half a minute. */
export interface Backoff {
  /**
   * Returns the next pause in milliseconds, at least `minMs`. It is random, so that pages that lost the same server do
   * not all come back at the same moment.
   */
  next(minMs: number): number
  /** Begins again with short pauses, after a success. */
  reset(): void
  /** Continues with the longest pauses. */
  slowDown(): void
}

export function createBackoff(): Backoff {
  let pause = minPauseMs
  return {
    next(minMs) {
      const random = (pause * (1 + Math.random())) / 2
      pause = Math.min(pause * 2, maxPauseMs)
      return Math.max(minMs, random)
    },
    reset() {
      pause = minPauseMs
    },
    slowDown() {
      pause = maxPauseMs
    },
  }
}

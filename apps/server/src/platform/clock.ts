/** The source of time of the program, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

// Under load the same millisecond is formatted many times.
let lastMilliseconds = Number.NaN
let lastText = ''

/** ISO 8601 in UTC with milliseconds: the only form of time in the database and on the wire. */
export function isoTime(milliseconds: number): string {
  if (milliseconds !== lastMilliseconds) {
    lastText = new Date(milliseconds).toISOString()
    lastMilliseconds = milliseconds
  }
  return lastText
}

/** The source of timers of the program, so that tests can move time instead of waiting. */
export interface Timers {
  /**
   * Calls back once, after `milliseconds`, never within this call. Returns a function that cancels; it
   * may be called at any time and more than once.
   */
  after(milliseconds: number, callback: () => void): () => void
}

/** The longest time that a timer of Node accepts, almost 25 days; a longer one would fire at once. */
export const maxTimeoutMs = 2 ** 31 - 1

export const systemTimers: Timers = {
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(milliseconds, maxTimeoutMs))
    return () => clearTimeout(timer)
  },
}

/** Where the program takes its timers from, so that tests can move time instead of waiting. */
export interface Timers {
  /**
   * Calls back once, after `milliseconds`, never within this call. The answer cancels; it may be
   * called at any time and more than once.
   */
  after(milliseconds: number, callback: () => void): () => void
}

/** The longest time that a timer of Node can take, almost 25 days; a longer one would end at once. */
const longestTimeout = 2 ** 31 - 1

export const systemTimers: Timers = {
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(milliseconds, longestTimeout))
    return () => clearTimeout(timer)
  },
}

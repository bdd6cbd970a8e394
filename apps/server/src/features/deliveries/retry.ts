/** How long deliveries are tried. */
export interface RetryPolicy {
  /** Attempts before a delivery is given up; those of a paused receiver are not made. */
  maximumAttempts: number
  /** Milliseconds before the second attempt; each further pause is twice as long. */
  firstPauseMs: number
  /** Longest pause in milliseconds. */
  longestPauseMs: number
}

/**
 * Milliseconds to wait after a failed attempt: doubling, and spread over half of the pause, so that
 * what failed together does not come back together.
 * @param attempt number of the attempt that failed, from 1
 * @param wish milliseconds that the receiver asked for; at most the longest pause
 * @param random a number from 0 up to 1
 */
export function pauseAfter(
  { firstPauseMs, longestPauseMs }: RetryPolicy,
  attempt: number,
  wish: number,
  random: number,
): number {
  const doubled = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempt - 1, 30))
  const spread = doubled * (0.5 + random / 2)
  return Math.round(Math.max(spread, Math.min(wish, longestPauseMs)))
}

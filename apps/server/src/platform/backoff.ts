/** Pauses between attempts: the first, doubled with every attempt, up to the longest. Milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * Milliseconds to wait after a failed attempt. A random half of the pause separates what failed
 * together, so that it does not come back together.
 * @param attempt number of the attempt that failed, from 1
 * @param random a number from 0 up to 1
 */
export function backoffPause({ firstMs, maxMs }: Backoff, attempt: number, random: number): number {
  const doubled = Math.min(maxMs, firstMs * 2 ** (attempt - 1))
  return Math.round(doubled * (0.5 + random / 2))
}

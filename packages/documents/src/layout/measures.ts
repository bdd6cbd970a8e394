/** Left and right edge of a column or cell, in points. */
export interface Extent {
  x0: number
  x1: number
}

/** The median; 0 for no values. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** The largest number of values that differ by at most `tolerance`. */
export function largestCluster(values: readonly number[], tolerance: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  let most = 0
  let from = 0
  sorted.forEach((value, at) => {
    while (value - (sorted[from] ?? value) > tolerance) from += 1
    most = Math.max(most, at - from + 1)
  })
  return most
}

/** The largest value; minus infinity for none. A page may have more of them than a call may have arguments. */
export function largest(values: readonly number[]): number {
  return values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY)
}

/** The smallest value; infinity for none. */
export function smallest(values: readonly number[]): number {
  return values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY)
}

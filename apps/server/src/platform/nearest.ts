/**
 * The candidate that a mistyped word most likely meant, or undefined when none is near: at most a
 * third of the word may be wrong.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.ceil(word.length / 3)
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate, { limit: bestDistance, swap: 2 })
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

export interface EditOptions {
  /** Above it, the result is only known to be more than that, which saves most of the work. */
  limit: number
  /** What two swapped neighbours count: as one edit, or as the two without which they are not swapped. */
  swap: 1 | 2
}

/** How many letters must be added, left out, replaced or swapped to get from one word to the other. */
export function editDistance(left: string, right: string, { limit, swap }: EditOptions): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const next = [row]
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      next[column] = Math.min(
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        isSwapped ? (before[column - 2] ?? limit) + swap : Number.POSITIVE_INFINITY,
      )
    }
    if (Math.min(...next) > limit) return limit + 1
    before = last
    last = next
  }
  return last[right.length] ?? limit + 1
}

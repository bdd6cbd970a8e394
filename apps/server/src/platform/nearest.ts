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
  /** Edits that swapped neighbours count as: 1, or 2 as without this rule. */
  swap: 1 | 2
}

/** Counts the letters to insert, delete, replace or swap to turn one word into the other. */
export function editDistance(left: string, right: string, options: EditOptions): number {
  if (Math.abs(left.length - right.length) > options.limit) return options.limit + 1
  // A common prefix or suffix needs no edit.
  const shorter = Math.min(left.length, right.length)
  let begin = 0
  while (begin < shorter && left[begin] === right[begin]) begin++
  let end = 0
  while (end < shorter - begin && left.at(-1 - end) === right.at(-1 - end)) end++
  return distanceOf(
    left.slice(begin, left.length - end),
    right.slice(begin, right.length - end),
    options,
  )
}

function distanceOf(left: string, right: string, { limit, swap }: EditOptions): number {
  const far = limit + 1
  if (left === '' || right === '') return Math.min(far, left.length + right.length)
  let last = Array.from({ length: right.length + 1 }, (_, at) => Math.min(at, far))
  let before = last.map(() => far)
  let next = last.map(() => far)
  for (let row = 1; row <= left.length; row++) {
    // Further from the diagonal there are more edits than the limit.
    const first = Math.max(1, row - limit)
    const end = Math.min(right.length, row + limit)
    let least = first === 1 ? Math.min(row, far) : far
    next[first - 1] = least
    for (let column = first; column <= end; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const edits = Math.min(
        far,
        (last[column - 1] ?? far) + (isSame ? 0 : 1),
        (last[column] ?? far) + 1,
        (next[column - 1] ?? far) + 1,
        isSwapped ? (before[column - 2] ?? far) + swap : far,
      )
      next[column] = edits
      least = Math.min(least, edits)
    }
    if (end < right.length) next[end + 1] = far
    if (least === far) return far
    const oldest = before
    before = last
    last = next
    next = oldest
  }
  return last[right.length] ?? far
}

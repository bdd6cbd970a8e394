const tokens =
  /\[\^?(?:\\.|[^\\\]])*\]|\\[pP]\{[^}]*\}|\\.|\(\?<?[=!:]?|\{(\d+)(?:,(\d*))?\}|[()*+?|]|./gsu

/**
 * About how long a pattern takes to be read, in units of some hundredths of a millisecond: repeating
 * writes out what is repeated, a class of Unicode is a list of hundreds of ranges.
 */
export function weightOf(source: string): number {
  const classes = source.split(/\\p/i).length - 1
  return Math.ceil(source.length / 3) + 20 * classes + writtenOut(source)
}

/** Parts of a pattern when all repetitions are written out. */
function writtenOut(source: string): number {
  const open: number[] = []
  let sum = 0
  let last = 0
  for (const [token, least, most] of source.matchAll(tokens)) {
    if (least !== undefined) {
      // No engine of this kind repeats more often.
      const times = Math.min(1000, Math.max(1, Number(most || least)))
      sum += last * (times - 1)
      last *= times
    } else if (token.startsWith('(')) {
      open.push(sum)
      sum += 1
    } else if (token === ')') {
      last = sum - (open.pop() ?? 0)
    } else {
      last = 1
      sum += 1
    }
  }
  return sum
}

import { inBrackets } from './scripts.js'
import { type Segment, toRows } from './segments.js'

/** Characters of the upper or lower part of a fraction. */
const maxPartLength = 16
const word = /\p{L}{3}/u
/** Pairs of segments that are compared on a page. */
const maxPairs = 100_000

/**
 * Joins the parts of fractions that are set one above the other, beside text whose baseline is between them.
 * The line between them is a drawing, which is not seen.
 */
export function joinFractions(segments: readonly Segment[]): Segment[] {
  const mayBePart = ({ text }: Segment) => text.trim().length <= maxPartLength && !word.test(text)
  const rows = toRows(segments)
  const joined = new Map<Segment, Segment | undefined>()
  let pairs = 0
  rows.forEach((row, at) => {
    for (const above of row.filter(mayBePart)) {
      const most = above.y + above.size * 1.8
      for (let next = at + 1; next < rows.length && pairs < maxPairs; next += 1) {
        const below = rows[next]?.filter(mayBePart) ?? []
        if ((rows[next]?.[0]?.y ?? most) >= most) break
        pairs += below.length
        const lower = below.find((each) => !joined.has(each) && isBelow(each, above))
        const beside =
          lower && rows.slice(at, next + 1).flatMap((all) => all.find(isBeside(above, lower)) ?? [])
        if (lower === undefined || beside?.[0] === undefined || joined.has(above)) continue
        joined.set(above, toFraction(above, lower, beside[0]))
        joined.set(lower, undefined)
      }
    }
  })
  return segments.flatMap((segment) => {
    if (!joined.has(segment)) return [segment]
    const fraction = joined.get(segment)
    return fraction === undefined ? [] : [fraction]
  })
}

/** Whether two segments are centred above each other, at the distance of the parts of a fraction. */
function isBelow(lower: Segment, above: Segment): boolean {
  const distance = lower.y - above.y
  const middles = Math.abs(above.x0 + above.x1 - lower.x0 - lower.x1) / 2
  const isNear = distance > above.size * 0.6 && distance < above.size * 1.8
  return isNear && middles < above.size * 0.2 && Math.abs(above.size - lower.size) < 1
}

/** Tells segments whose baseline is between the parts, and which stand directly beside them. */
function isBeside(above: Segment, lower: Segment): (segment: Segment) => boolean {
  const x0 = Math.min(above.x0, lower.x0)
  const x1 = Math.max(above.x1, lower.x1)
  return ({ y, x0: from, x1: to, size, text }) => {
    const isBetween = y > above.y + size * 0.2 && y < lower.y - size * 0.15
    const gap = Math.max(from - x1, x0 - to)
    return isBetween && gap > -size * 0.3 && gap < size * 0.6 && /[\p{L}\p{N}=]/u.test(text)
  }
}

function toFraction(above: Segment, lower: Segment, { y, size, font }: Segment): Segment {
  const text = `${inBrackets(above.text.trim())}/${inBrackets(lower.text.trim())}`
  const x0 = Math.min(above.x0, lower.x0)
  return { ...above, text, x0, x1: Math.max(above.x1, lower.x1), y, size, font, joints: [] }
}

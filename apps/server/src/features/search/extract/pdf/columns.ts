import { toRows } from './rows.js'
import type { Segment } from './segments.js'

/** Columns inside of columns, such as three of them: two cuts. */
const MOST_CUTS = 3
/** Fewer segments on a side are no column. */
const LEAST_LINES = 4
/** Lines of a text are longer than cells of a table, in characters and as a share of their column. */
const LEAST_CHARACTERS = 14
const LEAST_FILL = 0.5
/** A gutter is found in this part of the width. */
const MARGIN = 0.18
/** In sizes of the font. */
const NARROWEST_GUTTER = 0.7

/**
 * The columns of a page in the order in which they are read: from a line over the whole width to the
 * next one, first the left column, then the right one.
 */
export function readingOrder(segments: readonly Segment[], cuts = 0): Segment[][] {
  if (segments.length === 0) return []
  const gutter = cuts < MOST_CUTS ? findGutter(segments) : undefined
  if (gutter === undefined) return [[...segments]]
  const ordered: Segment[][] = []
  let left: Segment[] = []
  let right: Segment[] = []
  let wide: Segment[] = []
  const closeColumns = () => {
    ordered.push(...readingOrder(left, cuts + 1), ...readingOrder(right, cuts + 1))
    left = []
    right = []
  }
  for (const row of toRows(segments)) {
    if (isWide(row, gutter)) {
      closeColumns()
      wide.push(...row)
      continue
    }
    if (wide.length > 0) ordered.push(wide)
    wide = []
    for (const segment of row) (segment.x1 <= gutter ? left : right).push(segment)
  }
  closeColumns()
  if (wide.length > 0) ordered.push(wide)
  return ordered
}

/** A line across the gutter, or a row of a table that has cells on both sides. */
function isWide(row: readonly Segment[], gutter: number): boolean {
  if (row.some((segment) => segment.x0 < gutter && segment.x1 > gutter)) return true
  const onLeft = row.filter((segment) => segment.x1 <= gutter).length
  return onLeft >= 2 && row.length - onLeft >= 2
}

/** The middle of the strip that the fewest segments cross, if text in columns stands beside it. */
function findGutter(segments: readonly Segment[]): number | undefined {
  if (segments.length < 2 * LEAST_LINES) return undefined
  const start = Math.min(...segments.map((segment) => segment.x0))
  const width = Math.max(...segments.map((segment) => segment.x1)) - start
  if (!(width > 100 && width < 20_000)) return undefined
  const crossings = countCrossings(segments, start, Math.ceil(width))
  const from = Math.floor(width * MARGIN)
  const to = Math.ceil(width * (1 - MARGIN))
  const strip = emptiestStrip(crossings, from, to)
  const size = median(segments.map((segment) => segment.size))
  if (strip.end - strip.start < size * NARROWEST_GUTTER) return undefined
  const gutter = start + (strip.start + strip.end) / 2
  const onLeft = segments.filter((segment) => segment.x1 <= gutter)
  const onRight = segments.filter((segment) => segment.x0 >= gutter)
  return isColumn(onLeft) && isColumn(onRight) ? gutter : undefined
}

function isColumn(segments: readonly Segment[]): boolean {
  if (segments.length < LEAST_LINES) return false
  const left = Math.min(...segments.map((segment) => segment.x0))
  const right = Math.max(...segments.map((segment) => segment.x1))
  const fill = median(segments.map((segment) => segment.x1 - segment.x0)) / (right - left)
  return fill >= LEAST_FILL && median(segments.map(({ text }) => text.length)) >= LEAST_CHARACTERS
}

/** How many segments stand over each point of the width. */
function countCrossings(segments: readonly Segment[], start: number, width: number): Int32Array {
  const counts = new Int32Array(width + 2)
  for (const { x0, x1 } of segments) {
    const from = Math.max(0, Math.floor(x0 - start))
    const to = Math.min(width, Math.ceil(x1 - start))
    counts[from] = (counts[from] ?? 0) + 1
    counts[to] = (counts[to] ?? 0) - 1
  }
  for (let at = 1; at < counts.length; at += 1)
    counts[at] = (counts[at] ?? 0) + (counts[at - 1] ?? 0)
  return counts
}

/** The longest stretch of points with the least crossings. */
function emptiestStrip(
  counts: Int32Array,
  from: number,
  to: number,
): { start: number; end: number } {
  const least = counts
    .subarray(from, to)
    .reduce((low, count) => Math.min(low, count), counts.length)
  let best = { start: from, end: from }
  let start = from
  for (let at = from; at <= to; at += 1) {
    if (counts[at] === least && at < to) continue
    if (at - start > best.end - best.start) best = { start, end: at }
    start = at + 1
  }
  return best
}

/** The middle value; 0 of none. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

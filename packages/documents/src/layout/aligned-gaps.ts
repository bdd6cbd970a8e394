import type { Segment } from './segments.js'
import { toRows } from './segments.js'

/** Rows whose gaps must stand above each other, where cells have several words in one piece ... */
const LEAST_ROWS = 4
/** ... and where each word is a piece of its own, so that rivers run through text. */
const LEAST_ROWS_OF_WORDS = 10
/** Share of the rows that are in line on one side of the gap. */
const LEAST_IN_LINE = 0.6
/** Points by which they may be out of line. */
const OUT_OF_LINE = 0.75
/** Narrower gaps are within words, in sizes of the font. */
const NARROWEST = 0.15
/** Rows further apart are not of one table, in sizes of the font. */
const WIDEST_ROW_GAP = 3.5
/** Lines of a cell that stand on one side only between two rows that have both. */
const MOST_CELL_LINES = 20
/** More gaps on a page are of a drawing, and would take long: each is held against those of all rows. */
const MOST_GAPS = 5000
const MARK = /^(?:[^\p{L}\p{N}]|\(?(?:\d{1,3}|\p{L}|[ivx]{1,4})[.)])$/u

/** White space between two pieces of a row. */
interface Gap {
  x0: number
  x1: number
  /** The segment within which it is, and where; neither of a gap between two segments. */
  segment?: Segment
  at?: number
  /** Right end of what stands in the row to the right of it, up to the next gap of columns. */
  end: number
}

interface Row {
  segments: Segment[]
  gaps: Gap[]
  x0: number
  x1: number
  y: number
  size: number
}

/**
 * Cuts segments where cells were set so near to each other that the gap between them is as wide as the
 * space between words: such gaps stand above each other over many rows, with the text on one side in line.
 */
export function cutAtAlignedGaps(segments: readonly Segment[]): Segment[] {
  const rows = toRows(segments).map(toRow)
  if (rows.reduce((count, { gaps }) => count + gaps.length, 0) > MOST_GAPS) return [...segments]
  const cuts = new Map<Segment, Set<number>>()
  rows.forEach((row, at) => {
    for (const gap of row.gaps) {
      const { segment, at: place } = gap
      if (segment === undefined || place === undefined || cuts.get(segment)?.has(place)) continue
      const found = runAt(rows, at, gap.x1 - 0.2) ?? runAt(rows, at, gap.x0 + 0.2)
      for (const each of found ?? []) {
        if (each.segment === undefined || each.at === undefined) continue
        cuts.set(each.segment, (cuts.get(each.segment) ?? new Set()).add(each.at))
      }
    }
  })
  return cuts.size === 0
    ? [...segments]
    : segments.flatMap((segment) => cut(segment, cuts.get(segment) ?? new Set()))
}

function toRow(unsorted: readonly Segment[]): Row {
  const segments = [...unsorted].sort((a, b) => a.x0 - b.x0)
  const [first] = segments
  const size = first?.size ?? 1
  const gaps: Gap[] = []
  segments.forEach((segment, at) => {
    const next = segments[at + 1]
    const joints = segment.rightToLeft || segment.monospace ? [] : segment.joints
    joints.forEach(({ at: place, x, end }, index) => {
      const following = joints[index + 1]?.end ?? segment.x1
      if (x - end > size * NARROWEST)
        gaps.push({ x0: end, x1: x, segment, at: place, end: following })
    })
    if (next !== undefined && next.x0 > segment.x1) {
      gaps.push({ x0: segment.x1, x1: next.x0, end: next.joints[0]?.end ?? next.x1 })
    }
  })
  return {
    ...{ segments, gaps, size, y: first?.y ?? 0 },
    x0: first?.x0 ?? 0,
    x1: Math.max(...segments.map(({ x1 }) => x1)),
  }
}

/** The gaps at a place of all neighbouring rows, if they part columns. */
function runAt(rows: readonly Row[], at: number, place: number): Gap[] | undefined {
  const start = rows[at]
  if (start === undefined) return undefined
  const run: { row: Row; gap: Gap }[] = []
  for (const step of [-1, 1]) {
    let beside = 0
    let last = start
    for (let index = step === 1 ? at : at - 1; ; index += step) {
      const row = rows[index]
      if (row === undefined) break
      if (Math.abs(row.y - last.y) > Math.max(row.size, last.size) * WIDEST_ROW_GAP) break
      last = row
      const gap = row.gaps.find(({ x0, x1 }) => x0 < place && x1 > place)
      if (gap !== undefined) {
        run.push({ row, gap })
        beside = 0
      } else if ((row.x0 >= place || row.x1 <= place) && beside < MOST_CELL_LINES) beside += 1
      else break
    }
  }
  const areWords = run.every(({ row }) => row.segments.every(isOfWords))
  if (run.length < (areWords ? LEAST_ROWS_OF_WORDS : LEAST_ROWS)) return undefined
  const least = run.length * LEAST_IN_LINE
  const isInLine = [
    run.map(({ gap }) => gap.x1),
    run.map(({ gap }) => gap.x0),
    run.map(({ gap }) => gap.end),
  ].some((places) => mostAtOnePlace(places) >= least)
  const isList = run.every(({ row, gap }) => MARK.test(textBefore(row, gap)))
  return isInLine && !isList ? run.map(({ gap }) => gap) : undefined
}

/** Whether each word is a piece of its own. */
function isOfWords({ text, joints }: Segment): boolean {
  return text.trim().split(/\s+/).length - 1 <= joints.length
}

function textBefore({ segments }: Row, { segment, at, x0 }: Gap): string {
  const before = segments.filter(({ x1 }) => x1 <= x0).map(({ text }) => text)
  return [...before, segment?.text.slice(0, at) ?? ''].join(' ').trim()
}

function mostAtOnePlace(places: readonly number[]): number {
  const sorted = [...places].sort((a, b) => a - b)
  let most = 0
  let from = 0
  sorted.forEach((place, at) => {
    while (place - (sorted[from] ?? place) > OUT_OF_LINE) from += 1
    most = Math.max(most, at - from + 1)
  })
  return most
}

function cut(segment: Segment, places: ReadonlySet<number>): Segment[] {
  const joints = segment.joints.filter(({ at }) => places.has(at))
  if (joints.length === 0) return [segment]
  const starts = [{ at: 0, x: segment.x0 }, ...joints]
  return starts.map((start, index) => {
    const next = joints[index]
    const end = next?.at ?? segment.text.length
    return {
      ...segment,
      text: segment.text.slice(start.at, end).trim(),
      x0: start.x,
      x1: next?.end ?? segment.x1,
      joints: segment.joints
        .filter(({ at }) => at > start.at && at < end)
        .map((joint) => ({ ...joint, at: joint.at - start.at })),
    }
  })
}

import { append } from '../document/append.js'
import { largest, median, smallest } from './measures.js'
import type { Segment, TaggedTable, TypesetText } from './segments.js'
import { toRows } from './segments.js'

/** A line of a column: segments on one baseline, in the direction of their script. */
export interface Line extends TypesetText {
  segments: Segment[]
  /** Edges of the column that the line is in. */
  left: number
  right: number
  /** From 1. */
  page: number
  /** Whether it is the first line of its column. */
  opensColumn: boolean
  /** The tagged table that it stands for. */
  table?: TaggedTable
  /**
   * That it runs in another direction than most of the page, so that its coordinates are others: at an edge of
   * the page, like a watermark, or anywhere else.
   */
  turned?: 'edge' | 'watermark' | 'inside'
  /** Whether it continues nothing that is before it. */
  isApart?: boolean
  /** Comments, descriptions of pictures and the like that stand beside it. */
  notes?: string[]
}

const loneMarker = /^(?:[•▪■‣◦●○➢❖❑◻✓✔\uf020-\uf0ff–·∙*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])$/

/** The lines of a page in reading order. */
export function toLines(segments: readonly Segment[], page: number): Line[] {
  return readingOrder(segments).flatMap((column) => {
    const left = smallest(column.map((segment) => segment.x0))
    const right = largest(column.map((segment) => segment.x1))
    return toRows(column)
      .flatMap(withTablesAlone)
      .map((row, index) => ({
        ...toLine(row),
        left,
        right,
        page,
        opensColumn: index === 0,
      }))
  })
}

/** A tagged table becomes a line of its own, also if there is text beside it. */
function withTablesAlone(row: readonly Segment[]): Segment[][] {
  const texts = row.filter(({ table }) => table === undefined)
  const tables = row.filter(({ table }) => table !== undefined)
  return [...(texts.length > 0 ? [texts] : []), ...tables.map((table) => [table])]
}

function toLine(row: readonly Segment[]): Omit<Line, 'left' | 'right' | 'page' | 'opensColumn'> {
  const sorted = withMarkers([...row].sort((a, b) => a.x0 - b.x0))
  const isReversed =
    sorted.some((segment) => segment.rightToLeft) &&
    sorted.every((segment) => segment.rightToLeft || !/\p{L}/u.test(segment.text))
  if (isReversed) sorted.reverse()
  const main = sorted.reduce((most, each) => (each.text.length > most.text.length ? each : most))
  return {
    segments: sorted,
    text: sorted.map((segment) => segment.text.trim()).join(' '),
    x0: smallest(sorted.map((segment) => segment.x0)),
    x1: largest(sorted.map((segment) => segment.x1)),
    y: main.y,
    size: main.size,
    font: main.font,
    uniform: sorted.every((segment) => segment.uniform && segment.font === main.font),
    monospace: sorted.every((segment) => segment.monospace),
    ...(main.table !== undefined && { table: main.table }),
  }
}

/** Joins the marker of a list item to its text, however wide the gap. */
function withMarkers(segments: Segment[]): Segment[] {
  const [first, second, ...rest] = segments
  if (first === undefined || second === undefined) return segments
  const own = first.text.trim()
  // Word marks the items of inner lists by this letter of a monospaced font.
  const mark = own === 'o' && first.font !== second.font ? '◦' : own
  if (!loneMarker.test(mark)) return segments
  const text = `${mark} ${second.text}`
  return [{ ...second, text, x0: first.x0, joints: [] }, ...rest]
}

/** Nested divisions into columns; three columns take two. */
const maxCuts = 3
/** Rows of a column. */
const minLines = 4
/** Median length of the lines of a column, in characters and as a share of its width; cells of a table are shorter. */
const minCharacters = 14
const minFill = 0.5
/** Share of the lines of a column that consist of one segment. */
const minWholeShare = 0.5
/** Share of the width at either side in which no gutter is searched. */
const sideMargin = 0.18
/** Distance of lines that separates blocks of a page, in multiples of the font size. */
const blockDistance = 1.7
/** Share of its width that the words of a justified line fill at least. */
const minFillOfJustified = 0.65
/** Crossing lines that a gutter may have more than the emptiest point. */
const crossingSlack = 2
/** In multiples of the font size. */
const minGutter = 0.7
/** Ratio of line distances of both sides above which they are columns of a table. */
const sparserRatio = 1.5

/**
 * The columns of a page in reading order: between two lines over the whole width, first the left column,
 * then the right one.
 */
function readingOrder(segments: readonly Segment[], cuts = 0): Segment[][] {
  if (segments.length === 0) return []
  const gutter = cuts < maxCuts ? findGutter(segments) : undefined
  if (gutter === undefined) return cuts === 0 ? orderInBlocks(segments) : [[...segments]]
  const ordered: Segment[][] = []
  let left: Segment[] = []
  let right: Segment[] = []
  let wide: Segment[] = []
  const closeColumns = () => {
    append(ordered, readingOrder(left, cuts + 1))
    append(ordered, readingOrder(right, cuts + 1))
    left = []
    right = []
  }
  const rows = toRows(segments)
  const end = columnsEnd(rows, gutter.x)
  const wideRows = wideRowsOf(rows.slice(0, end), gutter)
  for (const row of rows.slice(0, end)) {
    if (wideRows.has(row)) {
      closeColumns()
      append(wide, row)
      continue
    }
    if (wide.length > 0) ordered.push(wide)
    wide = []
    for (const segment of row) (segment.x1 <= gutter.x ? left : right).push(segment)
  }
  closeColumns()
  if (wide.length > 0) ordered.push(wide)
  return [...ordered, ...readingOrder(rows.slice(end).flat(), cuts)]
}

/** Row at which both columns end: that of a heading below them which is too short to cross the gutter. */
function columnsEnd(rows: readonly Segment[][], gutter: number): number {
  const size = median(rows.map((row) => row[0]?.size ?? 0))
  const bottom = rows.findLastIndex((row) => row.some((segment) => segment.x0 >= gutter))
  const after = rows.slice(bottom + 1).findIndex((row) => (row[0]?.size ?? 0) > size * 1.12)
  return bottom === -1 || after === -1 ? rows.length : bottom + 1 + after
}

/** Orders the blocks of a page one by one: only some may have columns, such as the text above a table. */
function orderInBlocks(segments: readonly Segment[]): Segment[][] {
  const blocks: Segment[][] = []
  let last: Segment | undefined
  for (const row of toRows(segments)) {
    const [first] = row
    if (first === undefined) continue
    const isApart =
      last === undefined || first.y - last.y > Math.max(first.size, last.size) * blockDistance
    if (isApart) blocks.push([])
    append(blocks.at(-1) ?? [], row)
    last = first
  }
  const hasColumns = blocks.map((block) => findGutter(block) !== undefined)
  if (!hasColumns.includes(true)) return [[...segments]]
  return blocks.flatMap((block, at) => (hasColumns[at] ? readingOrder(block, 1) : [block]))
}

/** Rows over both columns: those that cross the gutter, and those of a table that is as wide as both. */
function wideRowsOf(rows: readonly Segment[][], { x, isBesideTable }: Gutter): Set<Segment[]> {
  const wide = new Set(rows.filter((row) => isCrossing(row, x)))
  if (isBesideTable) return wide
  const edge = rightEdgeOf(rows, x)
  const run: Segment[][] = []
  rows.forEach((row, at) => {
    if (wide.has(row) || !isLooseOnBothSides(row, x)) return
    run.push(row)
    if (isLooseOnBothSides(rows[at + 1] ?? [], x)) return
    const before = rows[at - run.length]
    const starts = run.flatMap((each) => each.filter(({ x0 }) => x0 >= x)).map(({ x0 }) => x0)
    const isInColumns =
      before !== undefined &&
      !isCrossing(before, x) &&
      run.length >= minTableRows &&
      Math.abs(smallest(starts) - edge) < maxCellInset
    if (!isInColumns) for (const each of run) wide.add(each)
    run.length = 0
  })
  return wide
}

function isCrossing(row: readonly Segment[], x: number): boolean {
  return row.some((segment) => segment.x0 < x && segment.x1 > x)
}

/** Left edge of most lines of the right column. */
function rightEdgeOf(rows: readonly Segment[][], x: number): number {
  const counts = new Map<number, number>()
  for (const row of rows) {
    const [first] = row.filter(({ x0 }) => x0 >= x).sort((a, b) => a.x0 - b.x0)
    if (first === undefined) continue
    const place = Math.round(first.x0)
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? Number.POSITIVE_INFINITY
}

/** Whether a row has cells with wide gaps on both sides of the gutter, as in a table. */
function isLooseOnBothSides(row: readonly Segment[], x: number): boolean {
  return [row.filter((segment) => segment.x1 <= x), row.filter((segment) => segment.x1 > x)].every(
    isLoose,
  )
}

/** Whether segments are cells of a table rather than words of a justified line. */
function isLoose(segments: readonly Segment[]): boolean {
  if (segments.length < 2) return false
  const left = smallest(segments.map((segment) => segment.x0))
  const right = largest(segments.map((segment) => segment.x1))
  const filled = segments.reduce((sum, { x0, x1 }) => sum + x1 - x0, 0)
  return filled < (right - left) * minFillOfJustified
}

/** A strip between two columns. */
interface Gutter {
  x: number
  /** Whether a table is on at least one side of it, whose rows are not those of the other side. */
  isBesideTable: boolean
}

/** The middle of the strip that the fewest segments cross, if there is a column of text or a table on both sides. */
function findGutter(segments: readonly Segment[]): Gutter | undefined {
  if (segments.length < 2 * minLines) return undefined
  const start = smallest(segments.map((segment) => segment.x0))
  const width = largest(segments.map((segment) => segment.x1)) - start
  if (!(width > 100 && width < 20_000)) return undefined
  const crossings = countCrossings(segments, start, Math.ceil(width))
  const from = Math.floor(width * sideMargin)
  const to = Math.ceil(width * (1 - sideMargin))
  const size = median(segments.map((segment) => segment.size))
  const strips = emptiestStrips(crossings, from, to)
    .filter((strip) => strip.end - strip.start >= size * minGutter)
    .slice(0, maxStrips)
  for (const [at, strip] of strips.entries()) {
    const x = start + emptiestPoint(crossings, strip)
    const onLeft = segments.filter((segment) => segment.x1 <= x)
    const onRight = segments.filter((segment) => segment.x0 >= x)
    const columns = [onLeft, onRight].filter(isColumn).length
    if (at === 0 && columns === 2) {
      const pitches = [pitchOf(onLeft), pitchOf(onRight)]
      return largest(pitches) > smallest(pitches) * sparserRatio
        ? undefined
        : { x, isBesideTable: false }
    }
    if (areApart(onLeft, onRight, columns)) return { x, isBesideTable: true }
  }
  return undefined
}

/** Strips that may be a gutter beside a table, which has strips of its own. */
const maxStrips = 5
/** Rows of a table beside other text, the share of them with several cells, and segments that are compared. */
const minTableRows = 3
const minRowsOfCells = 0.6
const maxCompared = 600
/** Points by which cells are aligned, and by which baselines of one row differ. */
const cellTolerance = 3
const sameBaseline = 1
/** Points between the edge of a column and the text of the first cell of a table in it. */
const maxCellInset = 8
/** Share of the rows that may stand on baselines of the other side by chance. */
const maxSharedRows = 0.4
/** Ratio of the gap between two tables to the gaps between their columns. */
const gapRatio = 1.2

/**
 * Whether a table and text, or two tables, are beside each other: their rows are on baselines of their own, which those
 * of one table are not, or both tables have the same header.
 *
 * @param columns number of the sides that are columns of text
 */
function areApart(left: readonly Segment[], right: readonly Segment[], columns: number): boolean {
  if (left.length + right.length > maxCompared || columns > 1) return false
  if (![left, right].every((side) => isGrid(side) || isColumn(side))) return false
  const [header, other] = [left, right].map(headerOf)
  if (columns === 0 && header === other) return true
  const ys = [left, right].map((side) => toRows(side).map(([first]) => first?.y ?? 0))
  const top = largest(ys.map((own) => own[0] ?? 0)) - sameBaseline
  const bottom = smallest(ys.map((own) => own.at(-1) ?? 0)) + sameBaseline
  const [few = [], many = []] = ys
    .map((own) => own.filter((y) => y >= top && y <= bottom))
    .sort((a, b) => a.length - b.length)
  if (few.length < minTableRows) return false
  const shared = few.filter((y) => many.some((other) => Math.abs(other - y) <= sameBaseline))
  if (shared.length > few.length * maxSharedRows) return false
  const pitches = [pitchOf(left), pitchOf(right)]
  if (largest(pitches) > smallest(pitches) * sparserRatio) return false
  const gap = smallest(right.map(({ x0 }) => x0)) - largest(left.map(({ x1 }) => x1))
  return columns === 1 || gap > largest([left, right].map(widestGap)) * gapRatio
}

/** The cells of the first row: where they are the same, one table is continued beside itself. */
function headerOf(segments: readonly Segment[]): string {
  const [row = []] = toRows(segments)
  return [...row]
    .sort((a, b) => a.x0 - b.x0)
    .map(({ text }) => text.trim())
    .join('|')
}

/** Whether segments are rows of aligned cells. */
function isGrid(segments: readonly Segment[]): boolean {
  const rows = toRows(segments)
  const cells = rows.filter((row) => row.length > 1)
  if (cells.length < Math.max(minTableRows, rows.length * minRowsOfCells)) return false
  const inner = cells.flatMap((row) => [...row].sort((a, b) => a.x0 - b.x0).slice(1))
  const isNear = (one: number, other: number) => Math.abs(one - other) < cellTolerance
  const aligned = inner.filter((cell) =>
    inner.some(
      (other) => other !== cell && (isNear(other.x0, cell.x0) || isNear(other.x1, cell.x1)),
    ),
  )
  return aligned.length >= inner.length * minRowsOfCells
}

/** The widest gap between columns of cells, in points. */
function widestGap(segments: readonly Segment[]): number {
  const sorted = [...segments].sort((a, b) => a.x0 - b.x0)
  let [end, widest] = [sorted[0]?.x1 ?? 0, 0]
  for (const { x0, x1 } of sorted) {
    widest = Math.max(widest, x0 - end)
    end = Math.max(end, x1)
  }
  return widest
}

function isColumn(segments: readonly Segment[]): boolean {
  const rows = toRows(segments)
  if (rows.length < minLines) return false
  const left = smallest(segments.map((segment) => segment.x0))
  const right = largest(segments.map((segment) => segment.x1))
  // Justified lines may be split into words; rows of a table always are.
  const whole = rows.filter((row) => row.length === 1).length
  const fills = rows.map((row) => row.reduce((sum, { x0, x1 }) => sum + x1 - x0, 0))
  const lengths = rows.map((row) => row.reduce((sum, { text }) => sum + text.length, 0))
  return (
    whole >= rows.length * minWholeShare &&
    median(fills) >= (right - left) * minFill &&
    median(lengths) >= minCharacters
  )
}

/** Median distance of lines, in points: of those of one size, as far as there are any, because headings have space around them. */
function pitchOf(segments: readonly Segment[]): number {
  const rows = toRows(segments).flatMap(([first]) => first ?? [])
  const pairs = rows.slice(1).map((row, index) => [row, rows[index] ?? row] as const)
  const alike = pairs.filter(([row, above]) => Math.abs(row.size - above.size) < above.size * 0.1)
  return median((alike.length > 0 ? alike : pairs).map(([row, above]) => row.y - above.y))
}

/** The number of segments that cover each point of the width. */
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

/** The strips with the fewest crossings, within `crossingSlack`, the longest first. */
function emptiestStrips(
  counts: Int32Array,
  from: number,
  to: number,
): { start: number; end: number }[] {
  const least = counts
    .subarray(from, to)
    .reduce((low, count) => Math.min(low, count), counts.length)
  const few = least + crossingSlack
  const strips: { start: number; end: number }[] = []
  let start = from
  for (let at = from; at <= to; at += 1) {
    if (at < to && (counts[at] ?? 0) <= few) continue
    if (at > start) strips.push({ start, end: at })
    start = at + 1
  }
  return strips.sort((a, b) => b.end - b.start - (a.end - a.start))
}

/** The middle of the longest part of a strip with the fewest crossings: in a short column, two lines are many. */
function emptiestPoint(counts: Int32Array, strip: { start: number; end: number }): number {
  const least = smallest([...counts.subarray(strip.start, strip.end)])
  let longest = { start: strip.start, end: strip.start }
  let start = strip.start
  for (let at = strip.start; at <= strip.end; at += 1) {
    if (at < strip.end && counts[at] === least) continue
    if (at - start > longest.end - longest.start) longest = { start, end: at }
    start = at + 1
  }
  return (longest.start + longest.end) / 2
}

const contentsEntry = /(?:\.[ ]?){4,}\s*[\divxlc]+$/

/** Whether a line belongs to a table of contents, which repeats the headings. */
export function isContentsEntry({ text }: Line): boolean {
  return contentsEntry.test(text)
}

import type { Line } from './lines.js'
import type { Extent } from './measures.js'
import { largest, smallest } from './measures.js'
import type { Segment } from './segments.js'

/** Ratio of the distance of rows to the distance of lines in a cell. */
const rowSpace = 1.2
/** Difference of the baselines of cells in one row, in multiples of the font size. */
const maxBaselineDrift = 0.35
/** A line belongs to the row below if its distance to it is below this share of that to the row above. */
const closerShare = 0.85
/** Share of the rows that may look like several rows. */
const maxAmbiguousShare = 0.25

/** Joins lines, and the words that were hyphenated at their ends. */
export type Join = (texts: string[]) => string

/** Divides the lines of a table into rows of cells. */
export function toTableRows(
  run: readonly Line[],
  columns: readonly Extent[],
  join: Join,
): string[][] {
  const rows = rowsBySpace(run, columns) ?? rowsByFirstCell(run, columns)
  return rows.map((row) => row.map((texts) => (texts.length > 1 ? join(texts) : (texts[0] ?? ''))))
}

/** The lines of each cell of a row. */
type Row = string[][]

interface Cell {
  column: number
  top: number
  bottom: number
  segments: Segment[]
}

/**
 * Divides rows by the space between them, however their cells are aligned vertically; undefined if the
 * space is not larger than between the lines of a cell.
 */
function rowsBySpace(run: readonly Line[], columns: readonly Extent[]): Row[] | undefined {
  const byColumn = columns.map((): Segment[] => [])
  for (const segment of run.flatMap((line) => dividedSegments(line, columns))) {
    byColumn[columnOf(segment, columns)]?.push(segment)
  }
  const size = largest(run.map((line) => line.size))
  const gaps = byColumn.flatMap((own) => own.slice(1).map((each, at) => each.y - (own[at]?.y ?? 0)))
  const pitch = smallest(gaps.filter((gap) => gap > size * maxBaselineDrift))
  if (!Number.isFinite(pitch)) return undefined
  const cells = byColumn
    .flatMap((own, column) => toCells(own, column, pitch * rowSpace))
    .sort((a, b) => a.top - b.top)
  const rows: Cell[][] = []
  let bottom = Number.NEGATIVE_INFINITY
  for (const cell of cells) {
    if (cell.top > bottom + size * maxBaselineDrift) rows.push([])
    rows.at(-1)?.push(cell)
    bottom = Math.max(bottom, cell.bottom)
  }
  const hasParts = cells.some(({ segments }) => segments.length > 1)
  const doubtful = rows.filter((row) => isSeveral(row, columns.length)).length
  if (!hasParts || rows.length < 2 || doubtful > rows.length * maxAmbiguousShare) return undefined
  return rows.map((row) =>
    columns.map((_, column) => {
      const own = row.filter((cell) => cell.column === column).flatMap(({ segments }) => segments)
      return own.map(({ text }) => text.trim())
    }),
  )
}

/** Groups adjacent lines of one column into cells. */
function toCells(segments: readonly Segment[], column: number, apart: number): Cell[] {
  const cells: Cell[] = []
  for (const segment of segments) {
    const last = cells.at(-1)
    if (last !== undefined && segment.y - last.bottom <= apart) {
      last.segments.push(segment)
      last.bottom = segment.y
    } else cells.push({ column, top: segment.y, bottom: segment.y, segments: [segment] })
  }
  return cells
}

/** Whether every column has several lines, as if rows without space between them were joined. */
function isSeveral(row: readonly Cell[], columns: number): boolean {
  const long = row.filter(({ top, bottom }) => bottom > top)
  return new Set(long.map(({ column }) => column)).size === columns
}

/** Divides rows by their first cells: a line without one continues the row. */
function rowsByFirstCell(run: readonly Line[], columns: readonly Extent[]): Row[] {
  const rows: Row[] = []
  const gaps = run.slice(1).map((line, index) => line.y - (run[index]?.y ?? 0))
  const tightest = smallest(gaps)
  let above: Row | undefined
  run.forEach((line, index) => {
    const row = rows.at(-1)
    const cells: Row = columns.map(() => [])
    for (const segment of dividedSegments(line, columns)) {
      cells[columnOf(segment, columns)]?.push(segment.text.trim())
    }
    const isFirstEmpty = cells[0]?.length === 0
    const gap = gaps[index - 1] ?? 0
    const isContinued =
      row !== undefined &&
      line.segments.length < columns.length &&
      (isFirstEmpty ||
        (line.segments.length === 1 && gap < tightest * 1.15 && gap < line.size * 1.35))
    const after = gaps[index]
    if (isFirstEmpty && after !== undefined && after < gap * closerShare) {
      // Cells are often centred vertically: the first line of a long one is above the others.
      above = cells
    } else if (!isContinued) {
      rows.push(above === undefined ? cells : joined(above, cells))
      above = undefined
    } else {
      rows[rows.length - 1] = joined(row, cells)
    }
  })
  return rows
}

function joined(above: Row, below: Row): Row {
  return above.map((texts, column) => [...texts, ...(below[column] ?? [])])
}

function dividedSegments({ segments }: Line, columns: readonly Extent[]): Segment[] {
  return segments.flatMap((segment) => divide(segment, columns))
}

/** A place at which a segment may be divided, and by how many points it may be wrong. */
type Joint = Segment['joints'][number] & { tolerance: number }

/** Points by which a known place may differ from the edge of a column. */
const jointTolerance = 2
/** Share of the font size by which an estimated place may differ from it. */
const estimateTolerance = 0.3

/** Places at which a segment may be divided. Within a piece, only its spaces are known: their places are estimated. */
function jointsOf({ text, x0, x1, size, monospace, joints }: Segment): Joint[] {
  if (joints.length > 0) return joints.map((joint) => ({ ...joint, tolerance: jointTolerance }))
  const widthTo = toWidths(text, monospace)
  const scale = (x1 - x0) / widthTo(text.length)
  const tolerance = monospace ? jointTolerance : Math.max(jointTolerance, size * estimateTolerance)
  return [...text.matchAll(/\s+(?=\S)/g)].map(({ index, 0: { length } }) => ({
    at: index + length,
    x: x0 + scale * widthTo(index + length),
    end: x0 + scale * widthTo(index),
    tolerance,
  }))
}

/** The widths of the beginnings of a text, by their length, in a common unit. */
function toWidths(text: string, monospace: boolean): (length: number) => number {
  if (monospace) return (length) => length
  const widths = [0]
  for (let at = 0; at < text.length; at += 1) {
    widths.push((widths[at] ?? 0) + usualWidth(text.charAt(at)))
  }
  return (length) => widths[length] ?? 0
}

/** Width of a character in usual fonts for text, in multiples of the font size. */
function usualWidth(character: string): number {
  if (/[ijlI.,:;'!|()[\]/ ft-]/.test(character)) return 0.3
  if (/[mwMW@%]/.test(character)) return 0.83
  return /\p{Lu}/u.test(character) ? 0.68 : 0.54
}

/** Divides a segment that was joined from several cells, such as those of a tightly set row. */
function divide(segment: Segment, columns: readonly Extent[]): Segment[] {
  const joint = jointsOf(segment).find(({ x, tolerance }) =>
    columns.some(
      (column) =>
        x > segment.x0 &&
        Math.abs(column.x0 - x) < tolerance &&
        // The place of a cell that is wider than its column would be a chance.
        (tolerance === jointTolerance || segment.x1 < column.x1 + tolerance),
    ),
  )
  if (joint === undefined) return [segment]
  const { text, joints } = segment
  const first = { ...segment, text: text.slice(0, joint.at), x1: joint.x - 1, joints: [] }
  const rest = joints.filter(({ at }) => at > joint.at)
  const moved = rest.map((each) => ({ ...each, at: each.at - joint.at }))
  const second = { ...segment, text: text.slice(joint.at), x0: joint.x, joints: moved }
  return [first, ...divide(second, columns)]
}

/** The column that a segment overlaps most, else the nearest. */
export function columnOf(segment: Segment, columns: readonly Extent[]): number {
  const distances = columns.map(
    (column) => Math.max(column.x0, segment.x0) - Math.min(column.x1, segment.x1),
  )
  // A cell over several columns belongs to the first of them.
  const touching = distances.findIndex((distance) => distance < 0)
  const isSpanning = distances.filter((distance) => distance < 0).length > 1
  if (isSpanning && touching !== -1) return touching
  return distances.indexOf(smallest(distances))
}

import type { Line } from './lines.js'
import type { Segment } from './segments.js'

/** Cells further apart than this are not in one table, in sizes of the font. */
const WIDEST_ROW_GAP = 3.5
/** A line is nearer to the row below than to the one above if its distance is this share. */
const CLOSER = 0.85
/** More are a drawing. */
const MOST_COLUMNS = 40

/** Lines that are a table, from `start` to `end`, exclusive. */
export interface FoundTable {
  end: number
  rows: string[][]
  /** Ends of the columns, by which the same table is known on the next page. */
  columns: readonly Span[]
}

export interface Span {
  x0: number
  x1: number
}

/** The table that begins with a line, if one does. */
export function tableAt(lines: readonly Line[], start: number): FoundTable | undefined {
  let end = start
  let wide = 0
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at]
    if (line === undefined || (at > start && !isNext(lines[at - 1], line))) break
    if (line.segments.length >= 2) {
      wide += 1
      end = at + 1
    } else if (at === start || !isRest(line, lines, start)) break
  }
  const run = lines.slice(start, end)
  const cells = run.reduce((most, line) => Math.max(most, line.segments.length), 0)
  if (wide < (cells >= 3 ? 2 : 3)) return undefined
  const columns = columnsOf(run)
  if (columns.length < 2 || columns.length > MOST_COLUMNS) return undefined
  const rows = toRows(run, columns)
  return isPlausible(rows) ? { end, rows, columns } : undefined
}

function isNext(previous: Line | undefined, line: Line): boolean {
  if (previous === undefined || previous.page !== line.page) return false
  const gap = line.y - previous.y
  return gap > 0 && gap < Math.max(previous.size, line.size) * WIDEST_ROW_GAP
}

/** The rest of a cell that is longer than its column: below a cell of the table, not over its width. */
function isRest(line: Line, lines: readonly Line[], start: number): boolean {
  const first = lines[start]
  const [segment] = line.segments
  if (first === undefined || segment === undefined) return false
  const width = first.x1 - first.x0
  return (
    segment.x1 - segment.x0 < width * 0.6 &&
    segment.x0 >= first.x0 - 2 &&
    segment.x1 <= first.x1 + 20
  )
}

/**
 * Columns are where the cells of the fullest rows stand above each other. A cell over several columns
 * must not join them, so rows with fewer cells do not take part.
 */
function columnsOf(run: readonly Line[]): Span[] {
  const most = Math.max(...run.map((line) => line.segments.length))
  const cells = run
    .filter((line) => line.segments.length === most)
    .flatMap((line) => line.segments)
    .map(({ x0, x1 }) => ({ x0, x1 }))
    .sort((a, b) => a.x0 - b.x0)
  const columns: Span[] = []
  for (const cell of cells) {
    const last = columns.at(-1)
    if (last !== undefined && cell.x0 < last.x1) last.x1 = Math.max(last.x1, cell.x1)
    else columns.push({ ...cell })
  }
  return columns
}

function toRows(run: readonly Line[], columns: readonly Span[]): string[][] {
  const rows: string[][] = []
  const gaps = run.slice(1).map((line, index) => line.y - (run[index]?.y ?? 0))
  const tightest = Math.min(...gaps)
  let above: string[] | undefined
  run.forEach((line, index) => {
    const row = rows.at(-1)
    const cells = columns.map(() => '')
    for (const segment of line.segments.flatMap((each) => divide(each, columns))) {
      const column = columnOf(segment, columns)
      cells[column] = `${cells[column]} ${segment.text.trim()}`.trim()
    }
    const gap = gaps[index - 1] ?? 0
    const isContinued =
      row !== undefined &&
      line.segments.length < columns.length &&
      (cells[0] === '' ||
        (line.segments.length === 1 && gap < tightest * 1.15 && gap < line.size * 1.35))
    const after = gaps[index]
    if (cells[0] === '' && after !== undefined && after < gap * CLOSER) {
      // Cells of several lines are often centred: their first line stands above the row.
      above = cells
    } else if (!isContinued) {
      rows.push(above === undefined ? cells : cells.map((cell, at) => joined(above?.[at], cell)))
      above = undefined
    } else {
      cells.forEach((cell, at) => {
        append(row, at, cell)
      })
    }
  })
  return rows
}

function append(row: string[], at: number, cell: string): void {
  row[at] = joined(row[at], cell)
}

function joined(before: string | undefined, cell: string): string {
  return `${before ?? ''} ${cell}`.trim()
}

/** Parts of a segment that grew together from cells, such as of a header that is set tightly. */
function divide(segment: Segment, columns: readonly Span[]): Segment[] {
  const joint = segment.joints.find(({ x }) =>
    columns.some((column) => x > segment.x0 && Math.abs(column.x0 - x) < 2),
  )
  if (joint === undefined) return [segment]
  const { text, joints } = segment
  const first = { ...segment, text: text.slice(0, joint.at), x1: joint.x - 1, joints: [] }
  const rest = joints.filter(({ at }) => at > joint.at)
  const moved = rest.map(({ at, x }) => ({ at: at - joint.at, x }))
  const second = { ...segment, text: text.slice(joint.at), x0: joint.x, joints: moved }
  return [first, ...divide(second, columns)]
}

/** The column that a segment overlaps most, else the nearest. */
function columnOf(segment: Segment, columns: readonly Span[]): number {
  const distances = columns.map(
    (column) => Math.max(column.x0, segment.x0) - Math.min(column.x1, segment.x1),
  )
  // A heading over several columns belongs to the first of them.
  const touching = distances.findIndex((distance) => distance < 0)
  const isSpanning = distances.filter((distance) => distance < 0).length > 1
  if (isSpanning && touching !== -1) return touching
  return distances.indexOf(Math.min(...distances))
}

/** Prose beside prose is no table: most cells of one are short. */
function isPlausible(rows: readonly string[][]): boolean {
  if (rows.length < 2) return false
  const lengths = rows
    .flat()
    .filter((cell) => cell !== '')
    .map((cell) => cell.length)
  const filled = lengths.length / (rows.length * (rows[0]?.length ?? 1))
  const long = lengths.filter((length) => length > 250).length
  return filled > 0.35 && long <= lengths.length / 4
}

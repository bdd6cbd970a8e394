import { isContentsEntry, type Line } from './lines.js'
import { columnOf, type Extent, type Join, toTableRows } from './table-rows.js'

/** Cells further apart than this are not in one table, in sizes of the font. */
const WIDEST_ROW_GAP = 3.5
/** Lines of a cell are nearer to each other, in sizes of the font. */
const WIDEST_CELL_GAP = 1.6
/** ... but not so near. */
const NEAREST_LINES = 0.8
/** Lines of the last cell that are looked for. */
const MOST_CELL_LINES = 20
/** Points by which a line may be longer than all cells above it. */
const BEYOND = 20
/** More are a drawing. */
const MOST_COLUMNS = 40
/** Points by which cells that stand above each other may be out of line ... */
const OUT_OF_LINE = 3
/** ... and the share of them that must be in line: the gaps of a sentence are anywhere. */
const LEAST_IN_LINE = 0.6

/** Lines that are a table, from `begin` to `end`, exclusive. */
export interface FoundTable {
  begin: number
  end: number
  rows: string[][]
  /** Ends of the columns, by which the same table is known on the next page. */
  columns: readonly Extent[]
}

/**
 * The table that begins with a line of several cells, if one does. Lines above it that stand over one of
 * its cells are the begin of that cell, which is centred in its row.
 *
 * @param options.above lines above that may be a part of it
 * @param options.join makes one text of the lines of a cell
 */
export function tableAt(
  lines: readonly Line[],
  start: number,
  options: { above: number; join: Join },
): FoundTable | undefined {
  let end = start
  let wide = 0
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at]
    if (line === undefined || (at > start && !isNext(lines[at - 1], line))) break
    if (isContentsEntry(line)) break
    if (line.segments.length >= 2) {
      wide += 1
      end = at + 1
    } else if (at === start || !isRest(line, lines.slice(start, at))) break
  }
  const run = lines.slice(start, end)
  const cells = run.reduce((most, line) => Math.max(most, line.segments.length), 0)
  if (wide < (cells >= 3 ? 2 : 3)) return undefined
  const columns = columnsOf(run)
  if (columns.length < 2 || columns.length > MOST_COLUMNS) return undefined
  if (!isInLine(run, columns)) return undefined
  const begin = edgeOf(lines, start, -1, options.above, columns)
  const last = edgeOf(lines, end - 1, 1, MOST_CELL_LINES, columns)
  const rows = toTableRows(lines.slice(begin, last + 1), columns, options.join)
  if (!isPlausible(rows)) return undefined
  return { begin, end: last + 1, ...joinShiftedHeaders({ rows, columns }) }
}

/** The last line in a direction that is a part of the rows of the table, and not below or above it. */
function edgeOf(
  lines: readonly Line[],
  start: number,
  step: 1 | -1,
  most: number,
  columns: readonly Extent[],
): number {
  let at = start
  for (let left = most; left > 0; left -= 1) {
    const [line, next] = [lines[at], lines[at + step]]
    if (line === undefined || next === undefined || next.segments.length > 1) break
    const gap = Math.abs(next.y - line.y)
    if (line.page !== next.page || gap > next.size * WIDEST_CELL_GAP) break
    const column = columns.findIndex(({ x0 }) => Math.abs(x0 - next.x0) < OUT_OF_LINE)
    const right = columns[Math.max(0, column) + 1]?.x0 ?? (columns.at(-1)?.x1 ?? 0) + BEYOND
    // So near to each other, two lines stand side by side: a short cell in the middle of its row.
    const isBeside = gap < next.size * NEAREST_LINES
    if (next.x1 > right || (column < 1 && !isBeside)) break
    at += step
  }
  return at
}

function isNext(previous: Line | undefined, line: Line): boolean {
  if (previous === undefined || previous.page !== line.page) return false
  const gap = line.y - previous.y
  return gap > 0 && gap < Math.max(previous.size, line.size) * WIDEST_ROW_GAP
}

/** A part of a cell of several lines: below or above the rest of it, not over the width of the table. */
function isRest(line: Line, above: readonly Line[]): boolean {
  const [segment] = line.segments
  const rows = above.filter(({ segments }) => segments.length >= 2)
  const [first] = rows
  if (first === undefined || segment === undefined) return false
  const right = Math.max(...above.map(({ x1 }) => x1))
  const others = rows.flatMap(({ segments }) => segments.slice(1))
  const firstEnd = Math.max(...rows.map(({ segments }) => segments[0]?.x1 ?? 0))
  const isOver = (cell: Extent) => segment.x0 < cell.x1 && segment.x1 > cell.x0
  // Names of columns are often in the middle, so that what is below begins left of them.
  if (segment.x0 > firstEnd && others.some(isOver)) return segment.x1 <= line.right
  // The line above it in its cell may be the only one that is under a short name.
  const rest = above.filter(({ segments, x0 }) => segments.length === 1 && x0 > firstEnd)
  if (rest.some(({ x0 }) => Math.abs(x0 - segment.x0) < OUT_OF_LINE))
    return segment.x1 <= line.right
  const isInFirst = rows.some(({ segments: [cell] }) => cell !== undefined && isOver(cell))
  if (isInFirst && others.every(({ x0 }) => segment.x1 < x0)) return true
  return (
    segment.x1 - segment.x0 < (first.x1 - first.x0) * 0.6 &&
    segment.x0 >= first.x0 - 2 &&
    segment.x1 <= right + BEYOND
  )
}

/** Whether cells stand above each other: by their left ends, their right ends or their middles. */
function isInLine(run: readonly Line[], columns: readonly Extent[]): boolean {
  const rows = run.filter(({ segments }) => segments.length >= 2)
  const cells = rows.flatMap(({ segments }) => segments.slice(1))
  const inLine = columns.map((_, at) => {
    const own = cells.filter((cell) => columnOf(cell, columns) === at)
    const edges = [
      own.map(({ x0 }) => x0),
      own.map(({ x1 }) => x1),
      own.map(({ x0, x1 }) => (x0 + x1) / 2),
    ]
    return Math.max(...edges.map(mostInLine))
  })
  return inLine.reduce((sum, count) => sum + count, 0) >= cells.length * LEAST_IN_LINE
}

/** How many places are nearly the same. */
function mostInLine(places: readonly number[]): number {
  const sorted = [...places].sort((a, b) => a - b)
  let most = 0
  let from = 0
  sorted.forEach((place, at) => {
    while (place - (sorted[from] ?? place) > OUT_OF_LINE) from += 1
    most = Math.max(most, at - from + 1)
  })
  // One alone is in line with nothing.
  return most >= 2 ? most : 0
}

/**
 * Columns are where the cells of the fullest rows stand above each other. A cell over several columns
 * must not join them, so rows with fewer cells do not take part.
 */
function columnsOf(run: readonly Line[]): Extent[] {
  const most = Math.max(...run.map((line) => line.segments.length))
  const cells = run
    .filter((line) => line.segments.length === most)
    .flatMap((line) => line.segments)
    .map(({ x0, x1 }) => ({ x0, x1 }))
    .sort((a, b) => a.x0 - b.x0)
  const columns: Extent[] = []
  for (const cell of cells) {
    const last = columns.at(-1)
    if (last !== undefined && cell.x0 < last.x1) last.x1 = Math.max(last.x1, cell.x1)
    else columns.push({ ...cell })
  }
  return columns
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

interface Grid {
  rows: string[][]
  columns: readonly Extent[]
}

/**
 * Brings together what is one column and looks like two: its name is centred or stands at the other end
 * than its cells, so that nothing of it stands above them.
 */
function joinShiftedHeaders({ rows, columns }: Grid): Grid {
  const at = columns.findIndex((_, column) => isShifted(rows, column))
  if (at === -1) return { rows, columns }
  const joined = rows.map((row) => [
    ...row.slice(0, at),
    row[at] === '' ? (row[at + 1] ?? '') : (row[at] ?? ''),
    ...row.slice(at + 2),
  ])
  const [left, right] = [columns[at], columns[at + 1]]
  const span = { x0: left?.x0 ?? 0, x1: right?.x1 ?? 0 }
  return joinShiftedHeaders({
    rows: joined,
    columns: [...columns.slice(0, at), span, ...columns.slice(at + 2)],
  })
}

/** Whether of a column and the next one has only a name, and the other one only cells. */
function isShifted([header = [], ...body]: readonly string[][], at: number): boolean {
  if (at + 1 >= header.length || body.length === 0) return false
  return isNameOf(at, at + 1) || isNameOf(at + 1, at)

  function isNameOf(name: number, cells: number): boolean {
    const isNamed = header[name] !== '' && header[cells] === ''
    return isNamed && body.every((row) => row[name] === '') && body.some((row) => row[cells] !== '')
  }
}

/** Share of the other rows that have a cell which a part of a row lacks. */
const FILLED = 0.9
/** Rows that tell what a whole one looks like. */
const LEAST_ROWS = 3
/** Characters of a cell of several lines, the only one that goes on after a page break. */
const LONG = 30

/**
 * Whether a row at the top of a page is the rest of the row at the bottom of the page before it: one of
 * both lacks a cell that nearly every other row has, and what both have is of a column of long texts.
 *
 * @param rows of the table on the page before, without its header
 */
export function isRestOfRow(rows: readonly string[][], next: readonly string[] = []): boolean {
  const last = rows.at(-1) ?? []
  const others = rows.slice(0, -1)
  if (next.length === 0 || others.length < LEAST_ROWS) return false
  const columns = last.map((cell, column) => {
    const texts = others.map((row) => row[column] ?? '')
    const filled = texts.filter((text) => text !== '').length >= others.length * FILLED
    const ends = [cell !== '', (next[column] ?? '') !== '']
    return { texts, filled, both: ends.every(Boolean), one: ends[0] !== ends[1] }
  })
  const isLong = (texts: readonly string[]) => texts.some((text) => text.length > LONG)
  return (
    columns.some(({ one, filled }) => one && filled) &&
    columns.every(({ both, texts }) => !both || isLong(texts))
  )
}

import { isContentsEntry, type Line } from './lines.js'
import { type Extent, largest, largestCluster } from './measures.js'
import { columnOf, type Join, toTableRows } from './table-rows.js'

/** Distance of rows of one table, in multiples of the font size. */
const maxRowGap = 3.5
/** Distance of lines of one cell, in multiples of the font size. */
const maxCellGap = 1.6
/** Lines that are nearer to each other stand side by side. */
const nearestLines = 0.8
/** Lines of the last row that are searched below the table. */
const maxCellLines = 20
/** Points by which a line may extend beyond all cells above it. */
const maxOverhang = 20
/** With more columns, it is a drawing. */
const maxColumns = 40
/** Points by which aligned cells may differ ... */
const tolerance = 3
/** ... and the share of cells that must be aligned: gaps between words of sentences are not. */
const minAligned = 0.6

/** Signs of a row that is a line below the header. */
const minRuleLength = 6
const sectionNumber = /^(?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3}){0,4}\.?$/
/** Factor by which the type of a heading is larger than that of the table below it. */
const headingSizeRatio = 1.12

/** Bounds the search for tables in one document, see {@link createTableSearch}. */
export interface TableSearch {
  /** Segments that may still be looked at. */
  left: number
}

/** Segments that are looked at in search of tables: of a document, and more for each of its pages. */
const maxSearched = 3_000_000
const searchedPerPage = 10_000

/**
 * Each line of several cells is tried as the beginning of a table, which ends many lines below: a drawing of thousands of
 * words would be examined thousands of times. After too many attempts, the rest of the document is lines of text.
 */
export function createTableSearch(pages: number): TableSearch {
  return { left: maxSearched + pages * searchedPerPage }
}

/** A table in the lines from `begin` to `end`, exclusive. */
export interface TableInLines {
  begin: number
  end: number
  rows: string[][]
  /** Extents of the columns, by which the next page may continue the table. */
  columns: readonly Extent[]
}

/**
 * Finds the table that begins at a line of several cells. Lines before it may belong to it too: those of a
 * long cell whose row has its other cells vertically centred.
 *
 * @param options.above number of lines before `start` that may belong to the table
 * @param options.join joins the lines of a cell
 * @param options.search bounds the search in the document
 */
export function tableAt(
  lines: readonly Line[],
  start: number,
  options: { above: number; join: Join; search: TableSearch },
): TableInLines | undefined {
  const { search } = options
  if (search.left < 0 || isNumberedHeading(lines, start)) return undefined
  let end = start
  let wide = 0
  let segments = 0
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at]
    if (line === undefined || (at > start && !isNext(lines[at - 1], line))) break
    if (isContentsEntry(line)) break
    segments += line.segments.length
    search.left -= line.segments.length
    if (line.segments.length >= 2) {
      wide += 1
      end = at + 1
    } else {
      // It is compared with all cells above it.
      search.left -= segments
      if (at === start || !continuesCell(line, lines.slice(start, at))) break
    }
  }
  const run = lines.slice(start, end)
  const cells = run.reduce((most, line) => Math.max(most, line.segments.length), 0)
  if (wide < (cells >= 3 ? 2 : 3)) return undefined
  const columns = columnsOf(run)
  if (columns.length < 2 || columns.length > maxColumns) return undefined
  search.left -= segments * columns.length
  // A header may be centred above cells that are not.
  if (![run, run.slice(1)].some((rows) => isAligned(rows, columns))) return undefined
  const begin = edgeOf(lines, start, -1, options.above, columns)
  const last = edgeOf(lines, end - 1, 1, maxCellLines, columns)
  const rows = toTableRows(lines.slice(begin, last + 1), columns, options.join).filter(
    (row) => !isRule(row),
  )
  if (!isPlausible(rows)) return undefined
  return { begin, end: last + 1, ...joinShiftedHeaders({ rows, columns }) }
}

/** Whether a row is a line that was typed with signs. */
function isRule(row: readonly string[]): boolean {
  const text = row.join('')
  return text.length >= minRuleLength && /^[-–—=_+|\s]+$/.test(text)
}

/** Whether a line is a heading whose number stands apart, in larger type than the next line, as TeX sets it. */
function isNumberedHeading(lines: readonly Line[], at: number): boolean {
  const [line, next] = [lines[at], lines[at + 1]]
  if (line === undefined || next === undefined || line.segments.length !== 2) return false
  const isNumbered = sectionNumber.test(line.segments[0]?.text.trim() ?? '')
  return isNumbered && line.size > next.size * headingSizeRatio
}

/** The first or last line of a table, searched in a direction from a line of it. */
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
    if ((step === 1 ? next : line).isApart === true) break
    const gap = Math.abs(next.y - line.y)
    if (line.page !== next.page || gap > next.size * maxCellGap) break
    const column = columns.findIndex(({ x0 }) => Math.abs(x0 - next.x0) < tolerance)
    const right = columns[Math.max(0, column) + 1]?.x0 ?? (columns.at(-1)?.x1 ?? 0) + maxOverhang
    // Two lines so near to each other stand side by side: a short cell is centred in its row.
    const isBeside = gap < next.size * nearestLines
    if (next.x1 > right || (column < 1 && !isBeside)) break
    at += step
  }
  return at
}

function isNext(previous: Line | undefined, line: Line): boolean {
  if (previous === undefined || previous.page !== line.page || line.isApart === true) return false
  const gap = line.y - previous.y
  return gap > 0 && gap < Math.max(previous.size, line.size) * maxRowGap
}

/** Whether a line continues a cell of several lines, rather than spanning the width of the table. */
function continuesCell(line: Line, above: readonly Line[]): boolean {
  const [segment] = line.segments
  const rows = above.filter(({ segments }) => segments.length >= 2)
  const [first] = rows
  if (first === undefined || segment === undefined) return false
  const right = largest(above.map(({ x1 }) => x1))
  const others = rows.flatMap(({ segments }) => segments.slice(1))
  const firstEnd = largest(rows.map(({ segments }) => segments[0]?.x1 ?? 0))
  const isOver = (cell: Extent) => segment.x0 < cell.x1 && segment.x1 > cell.x0
  // Column headers are often centred, so that the cells below begin left of them.
  if (segment.x0 > firstEnd && others.some(isOver)) return segment.x1 <= line.right
  // Only the first line of the cell may be below a short column header.
  const rest = above.filter(({ segments, x0 }) => segments.length === 1 && x0 > firstEnd)
  if (rest.some(({ x0 }) => Math.abs(x0 - segment.x0) < tolerance)) return segment.x1 <= line.right
  const isInFirst = rows.some(({ segments: [cell] }) => cell !== undefined && isOver(cell))
  if (isInFirst && others.every(({ x0 }) => segment.x1 < x0)) return true
  return (
    segment.x1 - segment.x0 < (first.x1 - first.x0) * 0.6 &&
    segment.x0 >= first.x0 - 2 &&
    segment.x1 <= right + maxOverhang
  )
}

/** Whether the cells of columns are aligned by their left edges, right edges or middles. */
function isAligned(run: readonly Line[], columns: readonly Extent[]): boolean {
  const rows = run.filter(({ segments }) => segments.length >= 2)
  const cells = rows.flatMap(({ segments }) => segments.slice(1))
  const aligned = columns.map((_, at) => {
    const own = cells.filter((cell) => columnOf(cell, columns) === at)
    const edges = [
      own.map(({ x0 }) => x0),
      own.map(({ x1 }) => x1),
      own.map(({ x0, x1 }) => (x0 + x1) / 2),
    ]
    return largest(edges.map(largestAlignment))
  })
  return aligned.reduce((sum, count) => sum + count, 0) >= cells.length * minAligned
}

/** The number of values that are nearly the same. A single one is aligned with nothing. */
function largestAlignment(values: readonly number[]): number {
  const count = largestCluster(values, tolerance)
  return count >= 2 ? count : 0
}

/**
 * The columns by the cells of the rows with the most cells. Rows with fewer cells may have merged cells,
 * which must not join columns.
 */
function columnsOf(run: readonly Line[]): Extent[] {
  const most = largest(run.map((line) => line.segments.length))
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

/** Whether rows are a table: most of its cells are short, unlike columns of prose. */
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
 * Joins pairs of columns that are one: its header is aligned differently than its cells, so that they do
 * not overlap.
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

/** Whether one of a column and the next one has only a header, and the other one only cells. */
function isShifted([header = [], ...body]: readonly string[][], at: number): boolean {
  if (at + 1 >= header.length || body.length === 0) return false
  return isNameOf(at, at + 1) || isNameOf(at + 1, at)

  function isNameOf(name: number, cells: number): boolean {
    const isNamed = header[name] !== '' && header[cells] === ''
    return isNamed && body.every((row) => row[name] === '') && body.some((row) => row[cells] !== '')
  }
}

/** Share of the other rows that must have a cell which part of a split row lacks. */
const filledShare = 0.9
/** Rows that are needed to know which cells a row has. */
const minRows = 3
/** Characters of a cell that may have several lines and thus continue after a page break. */
const longCellLength = 30

/**
 * Whether a row at the top of a page continues the row at the bottom of the page before it: one of them
 * lacks a cell that nearly every other row has, and only columns of long texts have cells in both.
 *
 * @param rows of the table on the page before, without its header
 * @param next row at the top of the page
 */
export function continuesRow(rows: readonly string[][], next: readonly string[] = []): boolean {
  const last = rows.at(-1) ?? []
  const others = rows.slice(0, -1)
  if (next.length === 0 || others.length < minRows) return false
  const columns = last.map((cell, column) => {
    const texts = others.map((row) => row[column] ?? '')
    const filled = texts.filter((text) => text !== '').length >= others.length * filledShare
    const ends = [cell !== '', (next[column] ?? '') !== '']
    return { texts, filled, both: ends.every(Boolean), one: ends[0] !== ends[1] }
  })
  const isLong = (texts: readonly string[]) => texts.some((text) => text.length > longCellLength)
  return (
    columns.some(({ one, filled }) => one && filled) &&
    columns.every(({ both, texts }) => !both || isLong(texts))
  )
}

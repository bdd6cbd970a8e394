import type { BlockContent } from 'mdast'
import { ExtractionError } from '../document/extraction.js'
import { paragraph, table } from '../document/nodes.js'

/** A row of a sheet, or a record. */
export interface SheetRow {
  cells: readonly string[]
  /** Number of its own cells with text, if a merged cell fills several; otherwise all non-empty cells count. */
  filled?: number
  /** Number of values of the record; absent for rows of sheets. */
  values?: number
}

/** Cells of one table; more would take more memory than a document may. */
const maxCells = 4_000_000
/** Rows that can stand above the header of a table without an empty one between them. */
const maxPreamble = 30
/** Rows by which the kinds of the columns of a table are known. */
const sampleRows = 50
/** Characters of a value with digits and little else. */
const maxNumberLength = 40
const year = /^(?:19|20)\d\d$/
/** Values that stand for a missing one. */
const placeholder = /^(?:[-–—?/.]+|n\/?a\.?|k\.? ?a\.?|x)?$/i

interface TextPart {
  kind: 'text'
  /** Each with at least one value. */
  rows: SheetRow[]
}

interface TablePart {
  kind: 'table'
  /** With the header. */
  rows: SheetRow[]
  columns: ReadonlySet<number>
}

/**
 * The tables of a sheet or of a file with separated values. Rows of one cell above a table are its caption, those
 * below it and between two tables are remarks. Behind an empty row or a remark, a table goes on if the next row
 * is not the header of another one; if a remark was between, the header is repeated. Empty columns are left out.
 *
 * @param separator separator of the values of a record, if they come from records
 */
export function toTables(rows: readonly SheetRow[], separator?: string): BlockContent[] {
  const isRecords = separator !== undefined
  const parts = toBlocks(rows, isRecords).flatMap((block) => toParts(block, isRecords))
  const joined = joinContinued(parts)
  const table = joined.find((part) => isRecords && part.kind === 'table' && part.rows.length > 1)
  return joined.flatMap((part) => {
    // One record beside a table that has another number of values is a line with a separator in it.
    const isLine = part.rows.length === 1 && table && !hasValuesOf(part.rows[0], table.rows[0])
    return part.kind === 'text' || isLine ? toTexts(part.rows, separator) : toTable(part)
  })
}

function hasValuesOf(row: SheetRow | undefined, other: SheetRow | undefined): boolean {
  return row?.values === other?.values
}

/** Rows without an empty one between them; a record that is a remark stands by itself. */
function toBlocks(rows: readonly SheetRow[], isRecords: boolean): SheetRow[][] {
  const blocks: SheetRow[][] = []
  let open: SheetRow[] = []
  const close = () => {
    if (open.length > 0) blocks.push(open)
    open = []
  }
  for (const row of rows) {
    if (isRecords && isRemark(row)) {
      close()
      blocks.push([row])
    } else if (row.cells.every((cell) => cell === '')) close()
    else open.push(row)
  }
  close()
  return blocks
}

/** Whether a record is a line of words without separators; a single word may be a row that lacks its other values. */
function isRemark({ cells, values }: SheetRow): boolean {
  return values === 1 && /\S\s\S/.test(cells[0] ?? '')
}

/** The table of some rows without an empty one between them, and the rows above and below it. */
function toParts(rows: SheetRow[], isRecords: boolean): (TextPart | TablePart)[] {
  const first = rows.findIndex(isWide)
  if (first === -1) return [{ kind: 'text', rows }]
  const last = rows.findLastIndex(isWide)
  const header = first + preambleOf(rows.slice(first, last + 1))
  const middle = rows.slice(header, last + 1)
  const part: TablePart | TextPart =
    isRecords && middle.every(isLabelled)
      ? { kind: 'text', rows: middle }
      : { kind: 'table', rows: middle, columns: usedColumns(middle) }
  const above: TextPart = { kind: 'text', rows: rows.slice(0, header) }
  const below: TextPart = { kind: 'text', rows: rows.slice(last + 1) }
  return [above, part, below].filter((each) => each.rows.length > 0)
}

/** The number of rows above the header: pairs of a name and a value above a table that is much wider. */
function preambleOf(rows: readonly SheetRow[]): number {
  const counts = new Map<number, number>()
  for (const row of rows.slice(0, maxPreamble + sampleRows)) {
    const width = widthOf(row)
    if (width > 1) counts.set(width, (counts.get(width) ?? 0) + 1)
  }
  const usual = [...counts].sort(([a, many], [b, more]) => more - many || b - a)[0]?.[0] ?? 0
  if (usual < 3) return 0
  const header = rows.findIndex((row) => widthOf(row) > usual / 2)
  const above = rows.slice(0, header)
  const left = Math.min(...above.map(({ cells }) => cells.findIndex((cell) => cell !== '')))
  const areShort = above.every(({ cells }) => cells[left] !== '')
  return header <= maxPreamble && header < rows.length - 1 && areShort ? header : 0
}

function isWide(row: SheetRow): boolean {
  return (row.filled ?? filledCells(row)) > 1
}

/** The number of columns of a row with text; 1 if the row is one merged cell. */
function widthOf(row: SheetRow): number {
  return row.filled === 1 ? 1 : filledCells(row)
}

/** A record such as `Customer:;Miller`. */
function isLabelled(row: SheetRow): boolean {
  return filledCells(row) === 2 && row.cells.find((cell) => cell !== '')?.endsWith(':') === true
}

function filledCells(row: SheetRow): number {
  return row.cells.reduce((sum, cell) => sum + (cell === '' ? 0 : 1), 0)
}

function usedColumns(rows: readonly SheetRow[]): Set<number> {
  const used = new Set<number>()
  for (const { cells } of rows) {
    for (let column = 0; column < cells.length; column += 1) {
      if (cells[column] !== '' && cells[column] !== undefined) used.add(column)
    }
  }
  return used
}

function joinContinued(parts: readonly (TextPart | TablePart)[]): (TextPart | TablePart)[] {
  const joined: (TextPart | TablePart)[] = []
  let open: TablePart | undefined
  for (const part of parts) {
    if (part.kind === 'text' || open === undefined || !continues(open, part)) {
      joined.push(part)
      if (part.kind === 'table') open = part
      continue
    }
    const [head] = open.rows
    if (joined.at(-1) !== open && head !== undefined) {
      open = { kind: 'table', rows: [head], columns: new Set([...open.columns, ...part.columns]) }
      joined.push(open)
    }
    for (const row of part.rows) open.rows.push(row)
  }
  return joined
}

/** Whether rows behind an empty row or a remark belong to the table above. */
function continues(above: TablePart, part: TablePart): boolean {
  const [head] = above.rows
  const [first] = part.rows
  if (head === undefined || first === undefined) return false
  for (const column of part.columns) if (!above.columns.has(column)) return false
  const isRecord = first.values !== undefined
  if (isRecord && !isAsLong(part, head)) return false
  if (isHeaderOfAnother(first, above)) return false
  if (above.rows.length === 1 && !head.cells.some(isNumeric)) return true
  const hasNumber = first.cells.some(isNumeric)
  if (part.columns.size === above.columns.size) return isRecord || hasNumber
  return isRecord && part.rows.length === 1 ? true : hasNumber
}

/** Whether the records of a part have as many values as a header; a single one may lack the last. */
function isAsLong({ rows }: TablePart, head: SheetRow): boolean {
  const [expected = 0, actual = 0] = [head.values, rows[0]?.values]
  return actual === expected || (rows.length === 1 && actual < expected)
}

/** Whether a row repeats the header of a table, or is not of the kind of its rows: years, or words for numbers. */
function isHeaderOfAnother(row: SheetRow, { rows }: TablePart): boolean {
  const head = rows[0]?.cells ?? []
  const body = rows.slice(1, sampleRows + 1)
  const filled = [...row.cells.keys()].filter((column) => row.cells[column] !== '')
  const repeated = filled.filter((column) => row.cells[column] === head[column])
  if (repeated.length * 2 >= filled.length) return true
  const shareOf = (column: number, test: (cell: string) => boolean) => {
    const values = body.map(({ cells }) => cells[column] ?? '').filter((cell) => cell !== '')
    return values.length === 0 ? 0 : values.filter(test).length / values.length
  }
  const numbers = filled.filter((column) => isNumeric(row.cells[column] ?? ''))
  if (numbers.length > 0) {
    const areYears = numbers.every((column) => year.test(row.cells[column] ?? ''))
    const isNew = numbers.every((column) => shareOf(column, (cell) => year.test(cell)) < 0.5)
    return numbers.length > 1 && areYears && isNew && body.length > 0
  }
  return filled.some((column) => {
    return !placeholder.test(row.cells[column] ?? '') && shareOf(column, isNumeric) > 0.5
  })
}

/** Whether a value is an amount, a date, a time or a code of digits, with at most a unit. */
function isNumeric(cell: string): boolean {
  return cell.length <= maxNumberLength && /^[^\p{L}]*\d[^\p{L}]*(?:\p{L}{1,3})?$/u.test(cell)
}

/** Rows of one cell each. Many of them are a list that was typed into a column. */
function toTexts(rows: readonly SheetRow[], separator?: string): BlockContent[] {
  const texts = rows.map((row) => textOf(row, separator))
  if (texts.length < 4) return texts.map((text) => paragraph(text))
  const children = texts.map((text) => ({
    type: 'listItem' as const,
    children: [paragraph(text)],
  }))
  return [{ type: 'list', ordered: false, spread: false, children }]
}

/** The text of a row outside of a table. */
function textOf(row: SheetRow, separator?: string): string {
  const filled = row.cells.filter((cell) => cell !== '')
  const texts = row.filled === 1 ? filled.slice(0, 1) : filled
  const isSentence = separator === ',' || separator === ';'
  const [first = '', ...rest] = texts
  if (rest.length === 1) return `${first}${first.endsWith(':') ? '' : ':'} ${rest[0]}`
  return texts.join(isSentence ? `${separator} ` : ' ')
}

function toTable({ rows, columns: used }: TablePart): BlockContent {
  const columns = [...used].sort((a, b) => a - b)
  if (columns.length * rows.length > maxCells) {
    throw new ExtractionError(
      'too_large',
      `The document has a table of ${rows.length.toLocaleString('en')} rows and ${columns.length.toLocaleString('en')} columns; at most ` +
        `${maxCells.toLocaleString('en')} cells can be read. Split it into several files.`,
    )
  }
  return table(rows.map(({ cells }) => columns.map((column) => cells[column] ?? '')))
}

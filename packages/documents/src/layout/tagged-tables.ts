import { toRows } from './rows.js'
import type { Segment } from './segments.js'
import type { Span } from './table-rows.js'
import type { TaggedTables } from './tags.js'

/** A table whose cells were named by the program that made the document. */
export interface SetTable {
  /** Lines of each cell of each row; none of an empty cell. */
  rows: string[][][]
  columns: Span[]
}

/** A cell with the place that its lines take. */
interface Cell extends Span {
  lines: string[]
}

/**
 * Puts a single segment in the place of all that belong to a table, which is read as its structure says.
 * What is no table of several columns stays as it stands on the page.
 */
export function withTables(segments: readonly Segment[], tagged: TaggedTables): Segment[] {
  const byCell = new Map<number, Segment[]>()
  for (const segment of segments) {
    if (segment.cell === undefined) continue
    const own = byCell.get(segment.cell)
    if (own === undefined) byCell.set(segment.cell, [segment])
    else own.push(segment)
  }
  const taken = new Set<number>()
  const tables = tagged.tables.flatMap((numbers) => {
    const rows = numbers
      .map((row) => row.flatMap((number) => byCell.get(number) ?? []))
      .filter((row) => row.length > 0)
    const cells = numbers
      .map((row) => row.flatMap((number) => toCell(byCell.get(number) ?? [])))
      .filter((row) => row.length > 0)
    const columns = columnsOf(cells)
    if (columns.length < 2) return []
    for (const number of numbers.flat()) taken.add(number)
    return toSegment(rows.flat(), { rows: cells.map((row) => place(row, columns)), columns })
  })
  const rest = segments.filter(({ cell }) => cell === undefined || !taken.has(cell))
  return [...rest, ...tables]
}

function toCell(segments: readonly Segment[]): Cell[] {
  if (segments.length === 0) return []
  const lines = toRows(segments).map((row) => {
    const sorted = [...row].sort((a, b) => a.x0 - b.x0)
    if (sorted.every(({ rightToLeft }) => rightToLeft)) sorted.reverse()
    return sorted.map(({ text }) => text.replace(/\s+/g, ' ').trim()).join(' ')
  })
  return [{ lines, ...extentOf(segments) }]
}

function extentOf(spans: readonly Span[]): Span {
  return spans.reduce(
    (all, { x0, x1 }) => ({ x0: Math.min(all.x0, x0), x1: Math.max(all.x1, x1) }),
    { x0: Number.POSITIVE_INFINITY, x1: Number.NEGATIVE_INFINITY },
  )
}

/** Where the cells of the rows with most of them stand: others lack some, or have cells over several columns. */
function columnsOf(rows: readonly (readonly Cell[])[]): Span[] {
  const most = rows.reduce((count, row) => Math.max(count, row.length), 0)
  const full = rows.filter((row) => row.length === most)
  return Array.from({ length: most }, (_, at) => extentOf(full.flatMap((row) => row[at] ?? [])))
}

/** The cells of a row in their columns: the structure does not say which of them are empty. */
function place(row: readonly Cell[], columns: readonly Span[]): string[][] {
  const placed = columns.map((): string[] => [])
  let from = 0
  row.forEach((cell, at) => {
    // So many columns are left for the cells behind it.
    const to = columns.length - (row.length - at)
    let best = from
    for (let column = from; column <= to; column += 1) {
      if (distance(cell, columns[column]) < distance(cell, columns[best]) - 1) best = column
    }
    placed[best] = cell.lines
    from = best + 1
  })
  return placed
}

/** From a cell to a column in which it does not stand: cells are in line by either end or by the middle. */
function distance(cell: Span, column: Span | undefined): number {
  if (column === undefined) return Number.POSITIVE_INFINITY
  const [left, right] = [cell.x0 - column.x0, cell.x1 - column.x1]
  if (left >= -1 && right <= 1) return 0
  return Math.min(Math.abs(left), Math.abs(right), Math.abs(left + right) / 2)
}

function toSegment(segments: readonly Segment[], table: SetTable): Segment[] {
  const [first] = segments
  if (first === undefined) return []
  const longest = segments.reduce((most, each) =>
    each.text.length > most.text.length ? each : most,
  )
  const text = table.rows.map((row) => row.flat().join(' ')).join(' ')
  const y = segments.reduce((top, each) => Math.min(top, each.y), first.y)
  return [
    {
      ...{ ...longest, ...extentOf(segments), text, y, table },
      ...{ uniform: false, monospace: false, rightToLeft: false, joints: [] },
    },
  ]
}

import { append } from '../document/append.js'
import type { Extent } from './measures.js'
import { largest } from './measures.js'
import type { StructureNode } from './parser.js'
import { type Segment, type TaggedTable, toRows } from './segments.js'

/** A cell with its lines and the extent of them. */
interface Cell extends Extent {
  lines: string[]
  /** Columns that it covers. */
  span: number
}

/**
 * Replaces the segments of each tagged table by a single one, with the rows and cells of the structure.
 * A tagged table of one column stays as it is on the page.
 */
export function withTables(segments: readonly Segment[], tagged: TableTags): Segment[] {
  const byCell = new Map<number, Segment[]>()
  for (const segment of segments) {
    if (segment.cell === undefined) continue
    const own = byCell.get(segment.cell)
    if (own === undefined) byCell.set(segment.cell, [segment])
    else own.push(segment)
  }
  const taken = new Set<number>()
  const tables = tagged.tables.flatMap((numbers) => {
    const present = numbers.flat().filter((number) => byCell.has(number))
    const grid =
      toGrid(numbers, tagged.spans, byCell) ?? toAlignedGrid(numbers, tagged.spans, byCell)
    if (grid.columns.length < 2) return []
    for (const number of numbers.flat()) taken.add(number)
    return toSegment(
      present.flatMap((number) => byCell.get(number) ?? []),
      grid,
    )
  })
  const rest = segments.filter(({ cell }) => cell === undefined || !taken.has(cell))
  return [...rest, ...tables]
}

type Contents = ReadonlyMap<number, Segment[]>

/** Columns and rows of a table by the positions of its cells: many programs do not name the empty ones. */
function toAlignedGrid(
  numbers: readonly (readonly number[])[],
  spans: TableTags['spans'],
  byCell: Contents,
): TaggedTable {
  const cells = numbers
    .map((row) =>
      row.flatMap((number) => toCell(byCell.get(number) ?? [], spans.get(number)?.columns ?? 1)),
    )
    .filter((row) => row.length > 0)
  const columns = columnsOf(cells)
  return { rows: cells.map((row) => toColumns(row, columns)), columns }
}

/** Cells that may be covered in all rows of a table; with more, its structure is broken. */
const maxCovered = 200_000

/**
 * Columns and rows of a table by its structure, if it has cells over several rows or columns and names all
 * cells: each counts for every row and column that it covers.
 */
function toGrid(
  numbers: readonly (readonly number[])[],
  spans: TableTags['spans'],
  byCell: Contents,
): TaggedTable | undefined {
  if (!numbers.some((row) => row.some((number) => spans.has(number)))) return undefined
  const grid: (number | undefined)[][] = numbers.map(() => [])
  let covered = 0
  for (const [y, row] of numbers.entries()) {
    let x = 0
    for (const number of row) {
      const { rows, columns } = spans.get(number) ?? { rows: 1, columns: 1 }
      covered += rows * columns
      if (covered > maxCovered) return undefined
      while (grid[y]?.[x] !== undefined) x += 1
      for (const line of grid.slice(y, y + rows)) {
        for (let at = x; at < x + columns; at += 1) line[at] = number
      }
      x += columns
    }
  }
  const width = largest(grid.map((row) => row.length))
  if (grid.some((row) => row.length !== width || row.includes(undefined))) return undefined
  const linesOf = (number = -1) => toCell(byCell.get(number) ?? [])[0]?.lines ?? []
  const isHere = (at: number) => numbers[at]?.some((number) => byCell.has(number)) === true
  const rows = grid.filter((_, at) => isHere(at)).map((row) => row.map(linesOf))
  const columns = Array.from({ length: width }, (_, x) => {
    const single = grid.flatMap((row) => {
      const number = row[x] ?? -1
      return (spans.get(number)?.columns ?? 1) === 1 ? (byCell.get(number) ?? []) : []
    })
    return single.length > 0 ? extentOf(single) : { x0: 0, x1: 0 }
  })
  return { rows, columns }
}

function toCell(segments: readonly Segment[], span = 1): Cell[] {
  if (segments.length === 0) return []
  const lines = toRows(segments).map((row) => {
    const sorted = [...row].sort((a, b) => a.x0 - b.x0)
    if (sorted.every(({ rightToLeft }) => rightToLeft)) sorted.reverse()
    return sorted.map(({ text }) => text.replace(/\s+/g, ' ').trim()).join(' ')
  })
  return [{ lines, ...extentOf(segments), span }]
}

function extentOf(spans: readonly Extent[]): Extent {
  return spans.reduce(
    (all, { x0, x1 }) => ({ x0: Math.min(all.x0, x0), x1: Math.max(all.x1, x1) }),
    { x0: Number.POSITIVE_INFINITY, x1: Number.NEGATIVE_INFINITY },
  )
}

/** Extents of the columns by the rows with the most cells: others lack some, or have merged cells. */
function columnsOf(rows: readonly (readonly Cell[])[]): Extent[] {
  const most = rows.reduce((count, row) => Math.max(count, row.length), 0)
  const full = rows.filter((row) => row.length === most)
  return Array.from({ length: most }, (_, at) => extentOf(full.flatMap((row) => row[at] ?? [])))
}

/** Assigns the cells of a row to columns: the structure does not say which columns are empty. */
function toColumns(row: readonly Cell[], columns: readonly Extent[]): string[][] {
  const assigned = columns.map((): string[] => [])
  let from = 0
  row.forEach((cell, at) => {
    // The cells after it need a column each.
    const to = columns.length - (row.length - at)
    let best = from
    for (let column = from; column <= to; column += 1) {
      if (distance(cell, columns[column]) < distance(cell, columns[best]) - 1) best = column
    }
    const end = Math.min(best + cell.span, to + 1)
    for (let column = best; column < Math.max(end, best + 1); column += 1) {
      assigned[column] = cell.lines
    }
    from = Math.max(end, best + 1)
  })
  return assigned
}

/** Distance of a cell from a column, by either edge or the middle, whichever is aligned best; 0 inside of it. */
function distance(cell: Extent, column: Extent | undefined): number {
  if (column === undefined) return Number.POSITIVE_INFINITY
  const [left, right] = [cell.x0 - column.x0, cell.x1 - column.x1]
  if (left >= -1 && right <= 1) return 0
  return Math.min(Math.abs(left), Math.abs(right), Math.abs(left + right) / 2)
}

function toSegment(segments: readonly Segment[], table: TaggedTable): Segment[] {
  const [first] = segments
  if (first === undefined) return []
  const longest = segments.reduce((most, each) =>
    each.text.length > most.text.length ? each : most,
  )
  const text = table.rows.map((row) => row.flat().join(' ')).join(' ')
  const y = segments.reduce((top, each) => Math.min(top, each.y), first.y)
  return [
    {
      ...longest,
      ...extentOf(segments),
      text,
      y,
      table,
      uniform: false,
      monospace: false,
      rightToLeft: false,
      joints: [],
    },
  ]
}

/** The number of rows and columns that a cell of a table covers. */
export interface Span {
  rows: number
  columns: number
}

/** A picture that the structure names. */
export interface TaggedPicture {
  /** Its description. */
  alt?: string
  /** Left, bottom, right and top, in the coordinates of the page. */
  bbox?: readonly number[]
  /** Id of the content before it. */
  after?: string
}

/** Tagged tables and pictures of a page. */
export interface TableTags {
  pictures: TaggedPicture[]
  /** Numbers of the cells of each row of each table. */
  tables: number[][][]
  /** Number of the cell on the page, by the id of the content in it. */
  cells: ReadonlyMap<string, number>
  /** Cells over several rows or columns. */
  spans: ReadonlyMap<number, Span>
}

/** Programs write no deeper structure trees. */
const maxDepth = 100

/**
 * Reads which contents are cells of tables. A table in a cell is part of the text of the cell.
 *
 * @param spanOf numbers of rows and columns that the cell of a content covers, by the id of the content
 */
export function readTags(
  root: StructureNode,
  spanOf: (id: string) => Span | undefined = () => undefined,
): TableTags {
  const spans = new Map<number, Span>()
  const cells = new Map<string, number>()
  const tables: number[][][] = []
  let count = 0

  const visit = (node: StructureNode, depth: number, rows?: number[][], row?: number[]): void => {
    if (depth > maxDepth || !('role' in node)) return
    const { role, children } = node
    if (row !== undefined && (role === 'TD' || role === 'TH')) {
      const ids = contentsOf(node, depth)
      row.push(count)
      for (const id of ids) {
        cells.set(id, count)
        const span = spanOf(id)
        if (span !== undefined) spans.set(count, span)
      }
      count += 1
      return
    }
    let [ownRows, ownRow] = [rows, row]
    if (role === 'Table') {
      ownRows = []
      ownRow = undefined
      tables.push(ownRows)
    } else if (role === 'TR' && rows !== undefined) {
      ownRow = []
      rows.push(ownRow)
    }
    for (const child of children) visit(child, depth + 1, ownRows, ownRow)
  }
  visit(root, 0)
  return {
    tables: tables.map((rows) => rows.filter((row) => row.length > 0)),
    cells,
    spans,
    pictures: picturesIn(root),
  }
}

/** Pictures of this page: those of others that the structure names have no content here. */
function picturesIn(root: StructureNode): TaggedPicture[] {
  const pictures: TaggedPicture[] = []
  let after: string | undefined
  const visit = (node: StructureNode, depth: number): void => {
    if (depth > maxDepth) return
    if (!('role' in node)) {
      if (node.type === 'content') after = node.id
      return
    }
    const { role, children, alt, bbox } = node
    if (role === 'Figure' && children.length > 0) {
      const text = alt?.replace(/\s+/g, ' ').trim() ?? ''
      pictures.push({
        ...(text !== '' && { alt: text }),
        ...(bbox !== undefined && { bbox }),
        ...(after !== undefined && { after }),
      })
    }
    for (const child of children) visit(child, depth + 1)
  }
  visit(root, 0)
  return pictures
}

function contentsOf(node: StructureNode, depth: number): string[] {
  if (depth > maxDepth) return []
  if (!('role' in node)) return node.type === 'content' ? [node.id] : []
  return node.children.flatMap((child) => contentsOf(child, depth + 1))
}

/** Counts the nodes of a structure tree: that of a page may name all rows of a table of many pages. */
export function countNodes(node: StructureNode): number {
  let count = 0
  const left = [node]
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    count += 1
    if ('role' in each) append(left, each.children)
  }
  return count
}

/** Id of the page whose content a structure marks; undefined if it marks none. */
export function pageIdIn(root: StructureNode): string | undefined {
  const left = [root]
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if ('role' in each) append(left, each.children)
    else if (each.type === 'content') return each.id.split('_mc', 1)[0]
  }
  return undefined
}

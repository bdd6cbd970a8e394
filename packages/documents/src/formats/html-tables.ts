import type { BlockContent, PhrasingContent } from 'mdast'
import { append } from '../document/append.js'
import { table as toTable } from '../document/nodes.js'
import { codeOfTable } from './html-code.js'
import { find, isElement, lengthOf, type PageNode } from './html-tree.js'
import type { XmlElement } from './xml.js'

/** Spans become cells; more of them per cell are a mistake or an attack. */
const maxArea = 20
/** Cells of a table above which none is written several times. */
const maxCells = 200_000
/** The largest span of columns, as in browsers. */
const maxColumns = 1000
/** Characters of a merged cell that is written in each row and column; a longer one is written once. */
const maxRepeated = 100
const headingTags: ReadonlySet<string> = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'])

/** Reads the content of a cell. */
interface CellReader {
  line(nodes: readonly PageNode[]): PhrasingContent[]
  blocks(nodes: readonly PageNode[]): BlockContent[]
}

interface Section {
  name: string
  rows: XmlElement[]
}

/**
 * A table with its caption before it. A merged cell is written in every row and column that it covers. A table that only
 * lays out a page becomes its content, one of numbered lines of code becomes code.
 */
export function readTable(table: XmlElement, read: CellReader): BlockContent[] {
  const caption = table.children.find((child) => isElement(child, 'caption'))
  const sections = sectionsOf(table)
  const rows = sections.flatMap((section) => section.rows)
  const described = isElement(caption) ? read.blocks(caption.children) : []
  const code = codeOfTable(rows)
  if (code !== undefined) return [...described, { type: 'code', lang: null, value: code }]
  if (isLayout(table, rows)) {
    const cells = rows.flatMap((row) => row.children)
    return [...described, ...cells.flatMap((cell) => read.blocks(contentOf(cell)))]
  }
  const grid = layOut(sections, read)
  const columns = grid.reduce((most, row) => Math.max(most, row.length), 1)
  const head = hasHeader(sections) ? [] : [Array.from({ length: columns }, () => [])]
  return rows.length === 0 ? described : [...described, toTable([...head, ...grid])]
}

function contentOf(cell: PageNode): readonly PageNode[] {
  return isElement(cell, 'td', 'th') ? cell.children : [cell]
}

/** The rows of a table by section, as a browser shows them: content outside of rows is a row of its own. */
function sectionsOf(table: XmlElement): Section[] {
  const sections: Section[] = []
  let open: Section | undefined
  for (const child of table.children) {
    if (isElement(child, 'thead', 'tbody', 'tfoot')) {
      sections.push({ name: child.name, rows: rowsOf(child.children) })
      open = undefined
    } else if (!isElement(child, 'caption', 'colgroup', 'col')) {
      const rows = rowsOf([child])
      if (rows.length === 0) continue
      if (open === undefined) {
        open = { name: 'tbody', rows: [] }
        sections.push(open)
      }
      append(open.rows, rows)
    }
  }
  const isFoot = ({ name }: Section) => name === 'tfoot'
  return [...sections.filter((each) => !isFoot(each)), ...sections.filter(isFoot)]
}

function rowsOf(nodes: readonly PageNode[]): XmlElement[] {
  return nodes.flatMap((node) => {
    if (isElement(node, 'tr')) return [node]
    if (typeof node === 'string' && node.trim() === '') return []
    return [
      { name: 'tr', attributes: {}, children: [{ name: 'td', attributes: {}, children: [node] }] },
    ]
  })
}

function cellsOf(row: XmlElement): XmlElement[] {
  return row.children.flatMap((child) => {
    if (isElement(child, 'td', 'th')) return [child]
    if (typeof child === 'string' && child.trim() === '') return []
    return [{ name: 'td', attributes: {}, children: [child] }]
  })
}

/** Whether a table has its cells only to put parts of the page beside each other. */
function isLayout(table: XmlElement, rows: readonly XmlElement[]): boolean {
  const { role } = table.attributes
  if (role === 'presentation' || role === 'none') return true
  if (rows.every((row) => cellsOf(row).length < 2)) return true
  const hasNames = table.children.some((child) => isElement(child, 'thead', 'caption'))
  const cells = rows.flatMap(cellsOf)
  if (hasNames || cells.some(({ name }) => name === 'th')) return false
  return cells.some(
    (cell) => find(cell, ({ name }) => name === 'table' || headingTags.has(name)) !== undefined,
  )
}

/** A head, or a first row of names of columns. A name in each row does not make the first one a head. */
function hasHeader([first]: readonly Section[]): boolean {
  if (first === undefined || first.name === 'thead') return true
  const [row] = first.rows
  const cells = row === undefined ? [] : cellsOf(row)
  const isName = (cell: XmlElement) => cell.name === 'th' || lengthOf(cell) === 0
  return cells.some(({ name }) => name === 'th') && cells.every(isName)
}

/** The cells of each row by column. */
function layOut(sections: readonly Section[], read: CellReader): PhrasingContent[][][] {
  const spans = areSpansReal(sections)
  return sections.flatMap(({ rows }) => {
    const grid: (PhrasingContent[] | undefined)[][] = rows.map(() => [])
    rows.forEach((row, top) => {
      let column = 0
      for (const cell of cellsOf(row)) {
        while (grid[top]?.[column] !== undefined) column += 1
        const content = read.line(cell.children)
        const repeated = lengthOf(cell) <= maxRepeated ? content : []
        const height = spans ? heightOf(cell, rows.length - top) : 1
        const width = spans ? widthOf(cell) : 1
        for (const line of grid.slice(top, top + height)) {
          // Cells that overlap are a mistake of the page: none of their texts is lost.
          for (let at = column; at < column + width; at += 1) line[at] ??= repeated
        }
        const own = grid[top]
        if (own !== undefined) own[column] = content
        column += width
      }
    })
    return grid.map((line) => Array.from(line, (cell) => cell ?? []))
  })
}

function areSpansReal(sections: readonly Section[]): boolean {
  let cells = 0
  let area = 0
  for (const { rows } of sections) {
    rows.forEach((row, top) => {
      for (const cell of cellsOf(row)) {
        cells += 1
        area += widthOf(cell) * heightOf(cell, rows.length - top)
      }
    })
  }
  return area <= cells * maxArea && area <= Math.max(cells, maxCells)
}

function widthOf({ attributes }: XmlElement): number {
  return Math.min(maxColumns, Math.max(1, Math.trunc(Number(attributes.colspan)) || 1))
}

/** Zero means all rows that follow in the section. */
function heightOf({ attributes }: XmlElement, rows: number): number {
  const stated = Math.trunc(Number(attributes.rowspan ?? 1))
  if (stated === 0) return rows
  return Math.min(rows, Math.max(1, stated || 1))
}

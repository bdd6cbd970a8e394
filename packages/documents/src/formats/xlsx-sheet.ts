import { fillMerged, type NumberedRow, type Range, requireDense } from './sheet-grid.js'
import { type CellFault, type CellReader, decodeEscapes, inOneLine } from './xlsx-cells.js'
import {
  attribute,
  descend,
  elements,
  prefixed,
  readXml,
  textContent,
  type XmlElement,
} from './xml.js'

/** Columns and rows of a worksheet; a cell beyond is a mistake or an attack. */
const maxColumns = 16_384
const maxRows = 1_048_576
/** Merged cells and links that are read. */
const maxReferences = 100_000

/** The content of a worksheet. */
export interface Worksheet {
  /** Rows with text, in order. Merged cells fill all rows and columns that they cover. */
  rows: NumberedRow[]
  /** The merged cells that have a text. */
  merged: Range[]
  /** Headers and footers of printed pages, in the code of the format. */
  headersAndFooters: string[]
  /** Number of cells that are not empty. */
  cells: number
}

interface Raw {
  rows: NumberedRow[]
  merged: Range[]
  links: { range: Range; id: string | undefined }[]
  headersAndFooters: string[]
  cells: number
  isSorted: boolean
}

/**
 * Reads a worksheet.
 *
 * @param urls external addresses by the ids of relations
 * @param count called with each text
 * @param onFault called for each cell of which something is missing, with its reference
 */
export function readWorksheet(
  bytes: Uint8Array,
  reader: CellReader,
  urls: ReadonlyMap<string, string>,
  count: (text: string) => void,
  onFault: (fault: CellFault, reference: string) => void,
): Worksheet {
  const raw = readElements(bytes, reader, count, onFault)
  const { rows } = raw
  if (!raw.isSorted) rows.sort((a, b) => a.number - b.number)
  const isPlain = raw.links.length + raw.merged.length === 0
  const byNumber = new Map(isPlain ? [] : rows.map((row) => [row.number, row]))
  const linked = new Set<string>()
  for (const { range, id } of raw.links) {
    const cells = byNumber.get(range.top)?.cells
    const url = urls.get(id ?? '')
    const text = cells?.[range.left] ?? ''
    const place = `${range.top} ${range.left}`
    if (cells === undefined || url === undefined || text === '' || linked.has(place)) continue
    // A cell has one link: a hundred of them would be a text a hundred times as long.
    linked.add(place)
    cells[range.left] = withLink(text, url)
    count(url)
  }
  const merged = raw.merged.filter(({ top, left }) => (byNumber.get(top)?.cells[left] ?? '') !== '')
  fillMerged(rows, merged, count)
  return { rows, merged, headersAndFooters: raw.headersAndFooters, cells: raw.cells }
}

const headerAndFooterNames = ['odd', 'even', 'first'].flatMap((page) => [
  `${page}Header`,
  `${page}Footer`,
])

function readElements(
  bytes: Uint8Array,
  reader: CellReader,
  count: (text: string) => void,
  onFault: (fault: CellFault, reference: string) => void,
): Raw {
  const raw: Raw = {
    rows: [],
    merged: [],
    links: [],
    headersAndFooters: [],
    cells: 0,
    isSorted: true,
  }
  let last = 0
  let slots = 0
  readXml(bytes, {
    wanted: new Set(['row', 'mergeCell', 'hyperlink', ...headerAndFooterNames]),
    visit(element) {
      if (element.name === 'row') {
        const number = numberOf(element, last)
        if (number <= last) raw.isSorted = false
        last = number
        const row = readRow(element, last, reader, count, onFault)
        raw.cells += row.read
        slots += row.cells.length
        requireDense(slots)
        if (row.cells.length > 0) raw.rows.push({ cells: row.cells, number: last })
        return
      }
      const range = toRange(attribute(element, 'ref') ?? '')
      if (element.name === 'mergeCell') {
        if (range !== undefined && raw.merged.length < maxReferences) raw.merged.push(range)
      } else if (element.name === 'hyperlink') {
        if (range === undefined || raw.links.length >= maxReferences) return
        raw.links.push({ range, id: prefixed(element, 'id') })
      } else raw.headersAndFooters.push(decodeEscapes(textContent(element)))
    },
  })
  return raw
}

function numberOf(row: XmlElement, last: number): number {
  const given = attribute(row, 'r')
  const number = Number(given ?? last + 1)
  if (Number.isInteger(number) && number > 0 && number <= maxRows) return number
  throw new Error(
    given === undefined ? `a sheet has more than ${maxRows} rows` : `a row has the number ${given}`,
  )
}

function readRow(
  element: XmlElement,
  number: number,
  reader: CellReader,
  count: (text: string) => void,
  onFault: (fault: CellFault, reference: string) => void,
): { cells: string[]; read: number } {
  const cells: string[] = []
  let read = 0
  let column = -1
  let faults = 0
  const note = (fault: CellFault) => {
    faults += 1
    onFault(fault, `${nameOf(column)}${number}`)
  }
  for (const cell of elements(element, 'c')) {
    column = columnOf(cell.attributes.r) ?? column + 1
    if (column >= maxColumns) throw new Error(`a cell is in column ${column}`)
    const before = faults
    const shown = inOneLine(reader.text(cell, note))
    const text = withFormulaLink(cell, shown)
    if (text !== '' || faults > before) read += 1
    if (text === '') continue
    count(text)
    while (cells.length < column) cells.push('')
    cells[column] = text
  }
  return { cells, read }
}

/** The target of a formula such as `HYPERLINK("https://pumps.example","Pumps")`. */
const linkFormula = /^\s*HYPERLINK\(\s*"([^"]{1,2000})"/i

function withFormulaLink(cell: XmlElement, text: string): string {
  const formula = descend(cell, 'f')
  const url = formula === undefined ? undefined : linkFormula.exec(textContent(formula))?.[1]
  return url === undefined ? text : withLink(text, url)
}

/** A text with its link as Markdown, if it is not the address itself. */
function withLink(text: string, url: string): string {
  if (text === '' || !/^(?:https?|mailto):/i.test(url) || url.includes(text)) return text
  return `[${text}](${url.replaceAll(' ', '%20')})`
}

/** A reference such as `B2:C4` or `B2`; undefined if it is none. */
export function toRange(reference: string): Range | undefined {
  const match = /^\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?$/.exec(reference)
  if (match === null) return undefined
  const [, fromColumn = '', fromRow = '', toColumn = fromColumn, toRow = fromRow] = match
  const range = {
    top: Number(fromRow),
    left: columnNumber(fromColumn),
    bottom: Number(toRow),
    right: columnNumber(toColumn),
  }
  return range.bottom < range.top || range.right < range.left ? undefined : range
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})\d/.exec(reference ?? '')?.[1]
  return letters === undefined ? undefined : columnNumber(letters)
}

function columnNumber(letters: string): number {
  let number = 0
  for (let at = 0; at < letters.length; at += 1) number = number * 26 + letters.charCodeAt(at) - 64
  return number - 1
}

/** The letters of a column. */
function nameOf(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26))
  return column < 26 ? letter : `${nameOf(Math.floor(column / 26) - 1)}${letter}`
}

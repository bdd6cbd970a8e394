import type { BlockContent, Root } from 'mdast'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import { heading } from '../document/nodes.js'
import { documentTitle, type OfficePackage, openOffice } from './opc.js'
import { toTables } from './sheet-tables.js'
import {
  attribute,
  descend,
  elements,
  findElements,
  prefixed,
  readXml,
  textContent,
  type XmlElement,
} from './xml.js'

const formatName = 'an Excel workbook (.xlsx)'
/** Columns of a worksheet; a cell further to the right is a mistake or an attack. */
const maxColumns = 16_384

/** Reads a workbook: each visible sheet under its name, with its values as the program displays them. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const office = await openOffice(source, formatName)
    const workbook = await office.parse(office.main, 'workbook')
    const sheets = await visibleSheets(office, workbook)
    requirePages(sheets.length, source, 'sheets')
    const count = createTextLimit(source)
    const cells = createCellReader(await sharedStrings(office), await styles(office), workbook)
    const root: Root = { type: 'root', children: [] }
    for (const [index, { name, part }] of sheets.entries()) {
      const blocks = readSheet(await office.archive.read(part), cells, count)
      if (blocks.length > 0) root.children.push(heading(2, name), ...blocks)
      source.onPage?.(index + 1, sheets.length)
    }
    const title = await documentTitle(office)
    return title === undefined ? { root } : { root, title }
  })
}

async function visibleSheets(
  office: OfficePackage,
  workbook: XmlElement,
): Promise<{ name: string; part: string }[]> {
  const relations = await office.relations(office.main)
  return elements(descend(workbook, 'sheets'), 'sheet').flatMap((sheet) => {
    const relation = relations.get(prefixed(sheet, 'id') ?? '')
    const isVisible = (attribute(sheet, 'state') ?? 'visible') === 'visible'
    // Charts can be sheets too, but have no cells.
    if (!isVisible || relation?.type !== 'worksheet' || !office.archive.has(relation.target))
      return []
    return [{ name: attribute(sheet, 'name') ?? '', part: relation.target }]
  })
}

async function sharedStrings(office: OfficePackage): Promise<string[]> {
  const part = await office.related(office.main, 'sharedStrings')
  const strings: string[] = []
  if (part === undefined) return strings
  readXml(await office.archive.read(part), {
    wanted: new Set(['si']),
    visit: (item) => strings.push(richText(item)),
  })
  return strings
}

async function styles(office: OfficePackage): Promise<XmlElement | undefined> {
  const part = await office.related(office.main, 'styles')
  return part === undefined ? undefined : await office.parse(part, 'styleSheet')
}

function readSheet(
  bytes: Uint8Array,
  reader: CellReader,
  count: (text: string) => void,
): BlockContent[] {
  const rows: string[][] = []
  let last = 0
  readXml(bytes, {
    wanted: new Set(['row']),
    visit(element) {
      const row: string[] = []
      for (const cell of elements(element, 'c')) {
        const column = columnOf(attribute(cell, 'r')) ?? row.length
        if (column >= maxColumns) throw new Error(`a cell is in column ${column}`)
        const text = reader.text(cell).replace(/\s+/g, ' ').trim()
        if (text === '') continue
        count(text)
        while (row.length < column) row.push('')
        row[column] = text
      }
      // Empty rows are left out of the file; one is enough to separate two tables.
      const number = Number(attribute(element, 'r') ?? last + 1)
      if (number > last + 1) rows.push([])
      last = number
      rows.push(row)
    },
  })
  return toTables(rows)
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})\d/.exec(reference ?? '')?.[1]
  if (letters === undefined) return undefined
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** Numbers of formats that are dates in every workbook; other formats are recognised by their pattern. */
const builtInDates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])
const builtInPercent = new Map([
  [9, '0%'],
  [10, '0.00%'],
])
const dayMs = 86_400_000
/** Day 0 in Unix time. It is 1899-12-30 because the format counts a 1900-02-29 that did not exist. */
const epochMs = Date.UTC(1899, 11, 30)
const epoch1904Ms = Date.UTC(1904, 0, 1)
const currencies = /[$€£¥₹₩₽₺₴฿]|\bCHF\b|\bUSD\b|\bEUR\b/

/** Turns cells into the text that users of the workbook see. */
interface CellReader {
  text(cell: XmlElement): string
}

/**
 * @param shared strings that cells refer to by number
 * @param styles the part with the number formats
 * @param workbook has the year from which days are counted
 */
function createCellReader(
  shared: readonly string[],
  styles: XmlElement | undefined,
  workbook: XmlElement,
): CellReader {
  const formats = readFormats(styles)
  const countsFrom1904 = ['1', 'true'].includes(
    attribute(descend(workbook, 'workbookPr'), 'date1904') ?? '',
  )
  const epoch = countsFrom1904 ? epoch1904Ms : epochMs

  return {
    text(cell) {
      const value = textContent(descend(cell, 'v'))
      switch (attribute(cell, 't')) {
        case 's':
          return shared[Number(value)] ?? ''
        case 'inlineStr':
          return richText(descend(cell, 'is'))
        case 'b':
          return value === '1' ? 'TRUE' : 'FALSE'
        case 'str':
        case 'e':
        case 'd':
          return value
        default:
          return toText(value, formats[Number(attribute(cell, 's') ?? 0)] ?? '', epoch)
      }
    },
  }
}

/** Plain or rich text, without phonetic guides. */
function richText(element: XmlElement | undefined): string {
  if (element === undefined) return ''
  const runs = elements(element, 'r').map((run) => textContent(descend(run, 't')))
  return elements(element, 't').map(textContent).join('') + runs.join('')
}

function readFormats(styles: XmlElement | undefined): string[] {
  if (styles === undefined) return []
  const own = new Map(
    findElements(styles, 'numFmt').map((format) => [
      Number(attribute(format, 'numFmtId')),
      attribute(format, 'formatCode') ?? '',
    ]),
  )
  return elements(descend(styles, 'cellXfs'), 'xf').map((xf) => {
    const id = Number(attribute(xf, 'numFmtId') ?? 0)
    if (builtInDates.has(id)) return id >= 18 && id <= 21 ? 'h:mm' : id === 22 ? 'y h' : 'y'
    return own.get(id) ?? builtInPercent.get(id) ?? ''
  })
}

function toText(value: string, format: string, epoch: number): string {
  if (value === '') return ''
  const number = Number(value)
  if (!Number.isFinite(number)) return value
  // Only the section for positive numbers, without quoted text and colours.
  const pattern = (format.split(';')[0] ?? '').replace(/"[^"]*"|\\.|\[(?!\$)[^\]]*\]|[*_]./g, '')
  if (/[ydhs]|m{1,5}/i.test(pattern.replace(/\[[^\]]*\]|general/gi, ''))) {
    return toDate(number, pattern, epoch)
  }
  const decimals = /\.([0]+)/.exec(pattern)?.[1]?.length
  if (pattern.includes('%')) return `${plain(number * 100, decimals ?? 0)}%`
  const currency = currencies.exec(format)?.[0]
  const amount = plain(number, /0/.test(pattern) ? (decimals ?? 0) : undefined)
  return currency === undefined ? amount : `${amount} ${currency}`
}

/** A number without the last digits, which are rounding errors of binary fractions. */
function plain(number: number, decimals?: number): string {
  if (decimals !== undefined && Math.abs(number) < 1e15) return number.toFixed(decimals)
  return String(Number(number.toPrecision(15)))
}

function toDate(days: number, pattern: string, epoch: number): string {
  const time = new Date(epoch + Math.round((days * dayMs) / 1000) * 1000)
  if (Number.isNaN(time.getTime())) return String(days)
  const [date = '', clock = ''] = time.toISOString().split('T')
  const hours = clock.slice(0, clock.startsWith('00:00:00') || !/s/i.test(pattern) ? 5 : 8)
  const withDate = /[yd]/i.test(pattern) || !/h/i.test(pattern)
  const withTime = /h/i.test(pattern)
  return [...(withDate ? [date] : []), ...(withTime ? [hours] : [])].join(' ')
}

import type { BlockContent, Root } from 'mdast'
import type { Extraction, Source } from './extractor.js'
import { heading } from './nodes.js'
import { documentTitle } from './office-title.js'
import { type OfficePackage, openOffice, readingAs } from './opc.js'
import { createTextLimit, requirePages } from './page-limit.js'
import { toTables } from './sheet-tables.js'
import { type CellReader, createCellReader, richText } from './xlsx-values.js'
import { attribute, descend, elements, prefixed, readXml, type XmlElement } from './xml.js'

const WHAT = 'an Excel workbook (.xlsx)'
/** Columns of a worksheet; a cell further to the right is a mistake or an attack. */
const MOST_COLUMNS = 16_384

/** Reads a workbook: each visible sheet under its name, with the values that its cells show. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(WHAT, async () => {
    const office = await openOffice(source, WHAT)
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
    // Charts are sheets too, but have no cells.
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
        if (column >= MOST_COLUMNS) throw new Error(`a cell is in column ${column}`)
        const text = reader.text(cell).replace(/\s+/g, ' ').trim()
        if (text === '') continue
        count(text)
        while (row.length < column) row.push('')
        row[column] = text
      }
      // An empty row between two tables is left out of the file; one is enough to part them.
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

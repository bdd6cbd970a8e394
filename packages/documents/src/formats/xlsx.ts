import type { BlockContent, Root } from 'mdast'
import { append } from '../document/append.js'
import { damaged, type Extraction, readingAs, type Source } from '../document/extraction.js'
import type { FlowBlock } from '../document/flow.js'
import { createTextLimit, requirePages, separatorLength } from '../document/limits.js'
import { heading, paragraph, plainText } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { createPartReader, type PartReader } from './office-parts.js'
import { documentTitle, type OfficePackage, openOffice, type Relations } from './opc.js'
import { type NumberedRow, type Range, withGaps } from './sheet-grid.js'
import { toTables } from './sheet-tables.js'
import {
  type CellReader,
  createCellReader,
  decodeEscapes,
  readSharedStrings,
} from './xlsx-cells.js'
import { type Report, readComments, readDrawing } from './xlsx-drawings.js'
import { readWorksheet, toRange, type Worksheet } from './xlsx-sheet.js'
import { attribute, descend, elements, prefixed, type XmlElement } from './xml.js'

const formatName = 'an Excel workbook (.xlsx)'
/** Tables of one sheet that are read by their bounds; the content of others is read as the rest of the sheet. */
const maxTables = 200

/** A sheet that readers of the workbook see. */
interface Sheet {
  name: string
  type: string
  part: string
}

/** State that the sheets of a workbook share. */
interface Workbook {
  office: OfficePackage
  cells: CellReader
  /** Name of the part with the texts of cells. */
  texts: string
  parts: PartReader
  count(text: string): void
  omissions: Omissions
}

/** Reads a workbook: each visible sheet under its name, with its values as the program displays them. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const office = await openOffice(source, formatName)
    const omissions = createOmissions()
    const root = await office.parse(office.main, 'workbook')
    const sheets = await visibleSheets(office, root, omissions)
    requirePages(sheets.length, source, 'sheets')
    const strings = await office.related(office.main, 'sharedStrings')
    const shared =
      strings === undefined ? [] : readSharedStrings(await office.archive.read(strings))
    const [lost] = office.missing
    const texts = strings ?? lost ?? 'xl/sharedStrings.xml'
    const cells = createCellReader(shared, await styles(office), root)
    for (const part of office.missing) omissions.add('missing_part', { part })
    const parts = createPartReader({ office, source, omissions })
    const workbook = {
      office,
      cells,
      texts,
      parts,
      count: createTextLimit(source, separatorLength),
      omissions,
    }
    const children: Root['children'] = []
    let unread = 0
    for (const [index, sheet] of sheets.entries()) {
      const { blocks, isRead } = await readSheet(workbook, sheet)
      if (blocks.length > 0) append(children, [heading(2, sheet.name), ...blocks])
      if (!isRead) unread += 1
      source.onPage?.(index + 1, sheets.length)
    }
    const found = omissions.list()
    const gap = found.find(({ kind }) => kind === 'missing_part')?.places[0]?.part
    if (children.length === 0 && gap !== undefined) {
      throw damaged(formatName, new Error(`the part ${gap} is missing`))
    }
    const title = await documentTitle(office)
    return {
      root: { type: 'root', children },
      ...(title !== undefined && { title }),
      omissions: found,
      parts: { count: sheets.length, unread },
    }
  })
}

async function visibleSheets(
  office: OfficePackage,
  workbook: XmlElement,
  omissions: Omissions,
): Promise<Sheet[]> {
  const relations = await office.relations(office.main)
  const read = new Set<string>()
  return elements(descend(workbook, 'sheets'), 'sheet').flatMap((sheet) => {
    const name = decodeEscapes(attribute(sheet, 'name') ?? '')
    const id = prefixed(sheet, 'id') ?? ''
    const relation = relations.get(id)
    if ((attribute(sheet, 'state') ?? 'visible') !== 'visible') {
      omissions.add('hidden_sheet', { sheet: name })
      return []
    }
    const part = relation?.target ?? id
    // Each sheet has a part of its own; one that is listed again and again would be read as often.
    if (office.archive.has(part) && read.size === read.add(part).size) return []
    return [{ name, type: relation?.type ?? 'worksheet', part }]
  })
}

async function styles(office: OfficePackage): Promise<XmlElement | undefined> {
  const part = await office.related(office.main, 'styles')
  return part === undefined ? undefined : await office.parse(part, 'styleSheet')
}

/** Reads a sheet; it counts as unread if most of it is missing. */
async function readSheet(
  workbook: Workbook,
  { name, type, part }: Sheet,
): Promise<{ blocks: FlowBlock[]; isRead: boolean }> {
  const { office, omissions, count } = workbook
  const report: Report = (kind, place, detail) => {
    const where = { sheet: name, ...(place !== undefined && { part: place }) }
    omissions.add(kind, where, detail === undefined ? {} : { detail })
  }
  if (!office.archive.has(part)) {
    report('missing_part', part)
    return { blocks: [], isRead: false }
  }
  if (type !== 'worksheet' && type !== 'chartsheet') {
    report('unknown_part', part, type)
    return { blocks: [], isRead: false }
  }
  const relations = await office.relations(part)
  const urls = [...relations].flatMap(([id, { external, target }]): [string, string][] =>
    external ? [[id, target]] : [],
  )
  let lost = 0
  const bytes = await office.archive.read(part)
  const sheet = readWorksheet(bytes, workbook.cells, new Map(urls), count, (fault, reference) => {
    if (fault === 'missing_part') lost += 1
    report(fault, fault === 'missing_part' ? workbook.texts : undefined, `first in ${reference}`)
  })
  const around = await readSurroundings(workbook, name, relations, sheet, report)
  const blocks = [...(await toBlocks(office, relations, sheet)), ...around]
  return { blocks, isRead: lost * 2 <= sheet.cells }
}

/** Types of the parts of a sheet that have text. */
const partsOfSheets: ReadonlySet<string> = new Set([
  'drawing',
  'comments',
  'threadedComment',
  'oleObject',
  'package',
])

/** Reads the content of a sheet besides its cells: drawings, comments, headers and footers. */
async function readSurroundings(
  { office, count, parts }: Workbook,
  name: string,
  relations: Relations,
  sheet: Worksheet,
  report: Report,
): Promise<FlowBlock[]> {
  const blocks: FlowBlock[] = []
  for (const { type, target, external } of relations.values()) {
    if (external || !partsOfSheets.has(type)) continue
    if (!office.archive.has(target)) report('missing_part', target)
    else if (type === 'drawing') {
      const own = await office.relations(target)
      const drawing = await office.parse(target, 'wsDr')
      const linked = await parts.read(own, { sheet: name })
      append(blocks, readDrawing(drawing, { relations: own, parts: linked, report }))
    }
  }
  const embedded = await parts.read(relations, { sheet: name })
  for (const found of embedded.values()) append(blocks, found)
  append(blocks, await readComments(office, relations, cellTexts(sheet)))
  const headersAndFooters = sheet.headersAndFooters
    .map(headerOrFooterText)
    .filter((text) => text !== '')
  for (const text of new Set(headersAndFooters)) blocks.push(paragraph(text))
  for (const block of blocks) count(plainText(block))
  return blocks
}

/** The texts of cells by their references. */
function cellTexts({ rows }: Worksheet): (reference: string) => string {
  let byNumber: ReadonlyMap<number, readonly string[]> | undefined
  return (reference) => {
    byNumber ??= new Map(rows.map((row) => [row.number, row.cells]))
    const range = toRange(reference)
    return range === undefined ? '' : (byNumber.get(range.top)?.[range.left] ?? '')
  }
}

/** Letters of a text that has a page number, below which it is nothing but that: `Page 3 of 7`. */
const minLetters = 13

/** The text of a header or footer without its codes for fonts, dates and page numbers. */
function headerOrFooterText(code: string): string {
  const isNumber = /&[PN]/.test(code)
  const text = code
    .replace(/&(?:"[^"]*"|K[\dA-Fa-f]{6}|K\d\d[+-]\d{3}|\d+|[LCR])/g, ' ')
    .replace(/&[PNDTFAZGBIUESXYOH]/g, '')
    .replaceAll('&&', '&')
    .replace(/\s+/g, ' ')
    .trim()
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters === 0 || (isNumber && letters < minLetters) ? '' : text
}

/** The tables of a sheet: first those that the author defined, which have bounds, then the cells around them. */
async function toBlocks(
  office: OfficePackage,
  relations: Relations,
  { rows, merged }: Worksheet,
): Promise<BlockContent[]> {
  const defined = await definedTables(office, relations)
  const starts = defined.toSorted((a, b) => a.range.top - b.range.top)
  const inside = starts.map(({ name, range }) => ({ name, range, rows: cutOut(rows, range) }))
  const blocks: BlockContent[] = []
  let from = 0
  for (const { name, range, rows: own } of inside) {
    const at = rows.findIndex((row, index) => index >= from && row.number >= range.top)
    const to = at === -1 ? rows.length : at
    append(blocks, toTables(withGaps(rows.slice(from, to), merged)))
    from = to
    if (name !== undefined && own.length > 0) blocks.push(paragraph(name))
    append(blocks, toTables(withGaps(own, merged)))
  }
  append(blocks, toTables(withGaps(from === 0 ? rows : rows.slice(from), merged)))
  return blocks
}

/** Names that programs give to tables: `Table1`, `Tabelle1`. */
const givenName = /^(?:table|tabelle|tableau|tabla|tabella|tabela|tabel|taulukko|таблица|表)_?\d+$/i

async function definedTables(
  office: OfficePackage,
  relations: Relations,
): Promise<{ name: string | undefined; range: Range }[]> {
  const found: { name: string | undefined; range: Range }[] = []
  for (const { type, target } of relations.values()) {
    if (type !== 'table' || !office.archive.has(target) || found.length >= maxTables) continue
    const element = await office.parse(target, 'table')
    const range = toRange(attribute(element, 'ref') ?? '')
    const name = decodeEscapes(attribute(element, 'displayName') ?? '')
    if (range === undefined) continue
    found.push({ name: name === '' || givenName.test(name) ? undefined : name, range })
  }
  return found
}

/** Takes the cells of a range out of the rows of a sheet. */
function cutOut(rows: readonly NumberedRow[], { top, left, bottom, right }: Range): NumberedRow[] {
  const own: NumberedRow[] = []
  for (const row of rows) {
    if (row.number < top || row.number > bottom) continue
    const cells = row.cells.slice(left, right + 1)
    if (cells.every((cell) => cell === '')) continue
    own.push({ cells, number: row.number })
    row.cells.fill('', left, Math.min(right + 1, row.cells.length))
    delete row.filled
  }
  return own
}

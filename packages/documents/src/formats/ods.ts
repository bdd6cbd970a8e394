import type { BlockContent, Root } from 'mdast'
import { append } from '../document/append.js'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import { createTextLimit, requirePages, separatorLength } from '../document/limits.js'
import { heading, paragraph, plainText } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import type { Archive } from './archive.js'
import { headerOrFooterText, pageNumberMark } from './headers-footers.js'
import { openOpenDocument, statedTitle } from './odt-package.js'
import { positionOf } from './odt-styles.js'
import { levelSpans, type PlacedSpan } from './raised-spans.js'
import { fillMerged, type NumberedRow, type Range, requireDense, withGaps } from './sheet-grid.js'
import { toTables } from './sheet-tables.js'
import {
  attribute,
  descend,
  elements,
  findElements,
  parseXml,
  readXml,
  textContent,
  type XmlElement,
} from './xml.js'

const formatName = 'an OpenDocument spreadsheet (.ods)'
const maxColumns = 16_384
const maxRows = 1_048_576
/** Repetitions of a cell or a row with text; empty ones are repeated up to the edge of the sheet. */
const maxRepeated = 1000

interface Sheet {
  name: string
  style: string
  rows: NumberedRow[]
  merged: Range[]
  /** Comments, text boxes and descriptions of pictures. */
  around: BlockContent[]
  /** Names of the folders of charts. */
  objects: string[]
  /** Number of the row that comes next, from 1. */
  next: number
  positions: Positions
}

/** Names of the styles of raised and lowered text. */
type Positions = ReadonlyMap<string, 'raised' | 'lowered'>

/** Reads a spreadsheet: each visible sheet under its name, with its values as the program displays them. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const archive = await openOpenDocument(source, formatName)
    const omissions = createOmissions()
    const count = createTextLimit(source, separatorLength)
    const content = readSheets(await archive.read('content.xml'), count, omissions)
    const { sheets, hiddenStyles, pagesOfStyles } = content
    const headersAndFooters = await readHeadersAndFooters(archive)
    const visible = sheets.filter(({ name, style }) => {
      if (!hiddenStyles.has(style)) return true
      // Copies of sheets of other files, which LibreOffice keeps for formulas.
      if (style !== 'ta_extref') omissions.add('hidden_sheet', { sheet: name })
      return false
    })
    requirePages(visible.length, source, 'sheets')
    const children: Root['children'] = []
    for (const [index, sheet] of visible.entries()) {
      const charts = await readCharts(archive, sheet, omissions)
      const page = headersAndFooters.get(pagesOfStyles.get(sheet.style) ?? 'Default') ?? []
      if (sheet.rows.length > 0) sheet.around.push(...page.map((text) => paragraph(text)))
      for (const block of [...charts, ...sheet.around]) count(plainText(block))
      fillMerged(sheet.rows, sheet.merged, count)
      const blocks = [...toTables(withGaps(sheet.rows, sheet.merged)), ...charts, ...sheet.around]
      if (blocks.length > 0) append(children, [heading(2, sheet.name), ...blocks])
      source.onPage?.(index + 1, visible.length)
    }
    const title = await statedTitle(archive)
    return {
      root: { type: 'root', children },
      ...(title !== undefined && { title }),
      omissions: omissions.list(),
      parts: { count: visible.length, unread: 0 },
    }
  })
}

function readSheets(
  bytes: Uint8Array,
  count: (text: string) => void,
  omissions: Omissions,
): {
  sheets: Sheet[]
  hiddenStyles: ReadonlySet<string>
  /** Names of the pages on which sheets are printed, by the style of the sheet. */
  pagesOfStyles: ReadonlyMap<string, string>
} {
  const sheets: Sheet[] = []
  const hiddenStyles = new Set<string>()
  const pagesOfStyles = new Map<string, string>()
  const positions = new Map<string, 'raised' | 'lowered'>()
  let slots = 0
  readXml(bytes, {
    wanted: new Set([
      'style',
      'table-row',
      'shapes',
      'tracked-changes',
      'dde-links',
      'named-expressions',
    ]),
    begin(name, attributes) {
      if (name !== 'table') return
      const element = { name, attributes, children: [] }
      sheets.push({
        name: attribute(element, 'name') ?? '',
        style: attribute(element, 'style-name') ?? '',
        rows: [],
        merged: [],
        around: [],
        objects: [],
        next: 1,
        positions,
      })
    },
    visit(element) {
      const sheet = sheets.at(-1)
      if (element.name === 'style') {
        const [properties] = elements(element, 'table-properties')
        const name = attribute(element, 'name') ?? ''
        const page = attribute(element, 'master-page-name')
        if (page !== undefined) pagesOfStyles.set(name, page)
        if (attribute(properties, 'display') === 'false') hiddenStyles.add(name)
        const position = positionOf(attribute(descend(element, 'text-properties'), 'text-position'))
        if (position === 'raised' || position === 'lowered') positions.set(name, position)
      } else if (sheet !== undefined && element.name === 'shapes') {
        for (const shape of elements(element)) readShape(shape, sheet, omissions)
      } else if (sheet !== undefined && element.name === 'table-row') {
        slots += readRow(element, sheet, count, omissions)
        requireDense(slots)
      }
    },
  })
  return { sheets, hiddenStyles, pagesOfStyles }
}

/** Fields of headers and footers that repeat other content, or differ from print to print. */
const otherFields: ReadonlySet<string> = new Set(
  'sheet-name file-name title date time author-name author-initials'.split(' '),
)

/** The texts of headers and footers by the name of their page, each once. */
async function readHeadersAndFooters(archive: Archive): Promise<Map<string, string[]>> {
  const pages = new Map<string, string[]>()
  if (!archive.has('styles.xml')) return pages
  readXml(await archive.read('styles.xml'), {
    wanted: new Set(['master-page']),
    visit(page) {
      const shown = elements(page).filter(
        (each) =>
          /^(?:header|footer)(?:-left|-first)?$/.test(each.name) &&
          attribute(each, 'display') !== 'false',
      )
      const lines = shown.flatMap((each) => findElements(each, 'p').map(lineOfPage))
      const texts = lines.map(headerOrFooterText).filter((text) => /[\p{L}\p{N}]/u.test(text))
      pages.set(attribute(page, 'name') ?? '', [...new Set(texts)])
    },
  })
  return pages
}

function lineOfPage(element: XmlElement): string {
  return element.children
    .map((child) => {
      if (typeof child === 'string') return child
      if (/^page-(?:number|count)$/.test(child.name)) return pageNumberMark
      if (child.name === 'tab' || child.name === 'line-break') return '\t'
      if (child.name === 's') return ' '
      return otherFields.has(child.name) ? '' : lineOfPage(child)
    })
    .join('')
}

/** @returns the number of cells of the row, repetitions included */
function readRow(
  element: XmlElement,
  sheet: Sheet,
  count: (text: string) => void,
  omissions: Omissions,
): number {
  const number = sheet.next
  const cells: string[] = []
  let column = 0
  for (const cell of elements(element)) {
    const times = timesOf(cell, 'number-columns-repeated')
    const text = cell.name === 'table-cell' ? readCell(cell, sheet, column, omissions) : ''
    if (text !== '') {
      while (cells.length < column) cells.push('')
      for (let at = 0; at < Math.min(times, maxRepeated); at += 1) cells.push(text)
    }
    column += times
    if (column > maxColumns) break
  }
  const times = timesOf(element, 'number-rows-repeated')
  sheet.next += times
  if (cells.length === 0) return 0
  if (number > maxRows) throw new Error(`a row has the number ${number}`)
  const repeated = Math.min(times, maxRepeated)
  for (let at = 0; at < repeated; at += 1) {
    for (const cell of cells) count(cell)
    sheet.rows.push({ cells: [...cells], number: number + at })
  }
  return cells.length * repeated
}

function timesOf(element: XmlElement, name: string): number {
  return Math.max(1, Math.trunc(Number(attribute(element, name) ?? 1)) || 1)
}

/** The text that the program shows, which the file states beside the value. */
function readCell(cell: XmlElement, sheet: Sheet, column: number, omissions: Omissions): string {
  const row = sheet.next
  const textIn = (paragraph: XmlElement) => textOf(paragraph, sheet.positions)
  const shown = elements(cell, 'p').map(textIn).join(' ').trim()
  const text = shown === '' ? (attribute(cell, 'value') ?? '') : shown
  if (text === '' && attribute(cell, 'formula') !== undefined) {
    if (attribute(cell, 'value-type') === undefined) {
      omissions.add('formula_without_value', { sheet: sheet.name })
    }
  }
  const [right, bottom] = [
    timesOf(cell, 'number-columns-spanned'),
    timesOf(cell, 'number-rows-spanned'),
  ]
  if (text !== '' && right * bottom > 1) {
    const range = { top: row, left: column, bottom: row + bottom - 1, right: column + right - 1 }
    sheet.merged.push(range)
  }
  for (const child of elements(cell)) {
    if (child.name === 'annotation') {
      const comment = elements(child, 'p').map(textIn).join(' ').trim()
      const about = text === '' ? '' : ` on ${text}`
      if (comment !== '') sheet.around.push(paragraph(`Comment${about}: ${comment}`))
    } else if (child.name !== 'p') readShape(child, sheet, omissions)
  }
  return text
}

/** The text of a paragraph of a cell or a text box, with its link as Markdown. */
function textOf(element: XmlElement, positions: Positions = new Map()): string {
  const pieces = element.children.map((child): PlacedSpan => {
    if (typeof child === 'string') return { text: child }
    const position = positions.get(attribute(child, 'style-name') ?? '')
    return { text: pieceOf(child, positions), ...(position !== undefined && { position }) }
  })
  const texts = levelSpans(pieces).map(({ text }) => text)
  return texts.join('').replace(/\s+/g, ' ')
}

function pieceOf(child: XmlElement, positions: Positions): string {
  switch (child.name) {
    case 's':
    case 'tab':
    case 'line-break':
      return ' '
    case 'annotation':
    case 'ruby-text':
      return ''
    case 'a': {
      const [label, url] = [textOf(child, positions), attribute(child, 'href') ?? '']
      return /^(?:https?|mailto):/.test(url) && !url.includes(label) ? `[${label}](${url})` : label
    }
    default:
      return textOf(child, positions)
  }
}

function readShape(shape: XmlElement, sheet: Sheet, omissions: Omissions): void {
  const objects = findElements(shape, 'object').map((each) => attribute(each, 'href') ?? '')
  for (const href of objects) sheet.objects.push(href.replace(/^\.\//, ''))
  const texts = findElements(shape, 'p').map((each) => textOf(each, sheet.positions).trim())
  for (const text of texts) if (text !== '') sheet.around.push(paragraph(text))
  if (objects.length > 0 || texts.length > 0 || findElements(shape, 'image').length === 0) return
  const described = [...findElements(shape, 'desc'), ...findElements(shape, 'title')]
  const alt = described.map((each) => textContent(each).trim()).find((text) => text !== '')
  if (alt === undefined) omissions.add('picture_without_text', { sheet: sheet.name })
  else sheet.around.push(paragraph([{ type: 'image', url: '', alt }]))
}

/** The texts of charts: titles, and the labels in the tables that they keep. */
async function readCharts(
  archive: Archive,
  sheet: Sheet,
  omissions: Omissions,
): Promise<BlockContent[]> {
  const blocks: BlockContent[] = []
  for (const object of sheet.objects) {
    const part = `${object}/content.xml`
    if (!archive.has(part)) {
      omissions.add('missing_part', { sheet: sheet.name, part })
      continue
    }
    const body = parseXml(await archive.read(part), 'body')
    const chart = descend(body, 'chart', 'chart')
    if (chart === undefined) {
      omissions.add('embedded_file', { sheet: sheet.name, part })
      continue
    }
    const text = chartText(chart)
    if (text !== '') blocks.push(paragraph(text))
  }
  return blocks
}

function chartText(chart: XmlElement): string {
  const titles = ['title', 'subtitle']
    .flatMap((name) => elements(chart, name))
    .map((each) => textOf(each))
  const axes = findElements(chart, 'axis')
    .flatMap((axis) => elements(axis, 'title'))
    .map((each) => textOf(each))
  const labels = findElements(chart, 'table-cell')
    .filter((cell) => attribute(cell, 'value-type') !== 'float')
    .map((cell) =>
      elements(cell, 'p')
        .map((each) => textOf(each))
        .join(' '),
    )
  const unique = (texts: string[]) => [...new Set(texts.map((text) => text.trim()))].filter(Boolean)
  const title = unique(titles).join(' ')
  const parts = [
    ['Axes', unique(axes)],
    ['Labels', unique(labels)],
  ] as const
  const texts = parts.flatMap(([name, found]) =>
    found.length === 0 ? [] : [`${name}: ${found.join(', ')}`],
  )
  if (title === '' && texts.length === 0) return ''
  return [title === '' ? 'Chart' : `Chart: ${title}`, ...texts].join('. ')
}

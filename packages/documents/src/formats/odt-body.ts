import type { PhrasingContent, Table } from 'mdast'
import { append } from '../document/append.js'
import {
  createFlow,
  type Flow,
  type FlowBlock,
  type Label,
  labelledItem,
  withLabel,
} from '../document/flow.js'
import { heading, paragraph, type Span, spanText, table, toPhrasing } from '../document/nodes.js'
import { createCellCopies, maxColumns, spanOf } from './merged-cells.js'
import { createOdtNumbering, type OdtNumbering, type OpenList } from './odt-numbering.js'
import type { OdtStyles } from './odt-styles.js'
import {
  createInlineReader,
  type InlineReader,
  type OdtAttachment,
  type OdtTextContext,
} from './odt-text.js'
import { attribute, descend, elements, textContent, type XmlElement } from './xml.js'

/** Reads the blocks of an OpenDocument file one after the other. */
export interface OdtBody {
  add(element: XmlElement): void
  /** Ends an open list, and returns the blocks. */
  end(): FlowBlock[]
}

/** Repetitions of one cell or row: empty ones up to the edge of the sheet are written as one. */
const maxRepeated = 20
/** Cells of a table above which none is repeated. */
const maxCells = 100_000

/** State of reading a body: its elements follow each other in one flow. */
interface BodyReader {
  styles: OdtStyles
  inline: InlineReader
  numbering: OdtNumbering
  flow: Flow
}

export function createOdtBody(context: OdtTextContext): OdtBody {
  const { styles } = context
  const flow = createFlow()
  const inline = createInlineReader(context)
  const reader: BodyReader = { styles, inline, numbering: createOdtNumbering(styles), flow }
  return {
    add: (element) => addBlock(reader, element),
    end() {
      flow.close()
      return flow.blocks
    },
  }
}

function addBlock(reader: BodyReader, element: XmlElement): void {
  const { inline, flow } = reader
  switch (element.name) {
    case 'p':
      addParagraph(reader, element)
      return
    case 'h':
      addHeading(reader, element)
      return
    case 'list':
      addList(reader, element)
      return
    case 'table':
      addTable(reader, element)
      return
    case 'section':
    case 'table-cell':
      addBlocks(reader, element)
      return
    // Anchored to a page, not to a paragraph.
    case 'frame':
    case 'g':
    case 'custom-shape':
    case 'rect':
    case 'ellipse':
    case 'circle': {
      const { spans, attachments } = inline.readFrame(element)
      if (isShown(spans)) flow.block(paragraph(toPhrasing(spans)))
      addAttachments(reader, attachments)
    }
  }
}

function addBlocks(reader: BodyReader, parent: XmlElement): void {
  for (const element of elements(parent)) addBlock(reader, element)
}

function addAttachments(reader: BodyReader, attachments: readonly OdtAttachment[]): void {
  const { flow } = reader
  for (const attachment of attachments) {
    flow.after(() => {
      if (attachment.type === 'blocks') attachment.blocks.forEach(flow.block)
      else addBlocks(reader, attachment.content)
    })
  }
}

function addParagraph(reader: BodyReader, element: XmlElement): void {
  const { styles, inline, flow } = reader
  const { spans, attachments } = inline.read(element)
  if (isShown(spans)) addText(flow, styles.namesOf(styleOf(element)), spans)
  addAttachments(reader, attachments)
}

function addHeading(reader: BodyReader, element: XmlElement, listLabel?: Label): void {
  const { inline, numbering, flow } = reader
  const { spans, attachments } = inline.read(element)
  const level = Number(attribute(element, 'outline-level') ?? 1) || 1
  // Empty headings show no number and are not counted.
  if (isShown(spans)) {
    const label = statedLabel(element) ?? listLabel ?? numbering.heading(element, level)
    flow.block(heading(level, toPhrasing(withLabel(label, spans))))
  }
  addAttachments(reader, attachments)
}

function addList(reader: BodyReader, element: XmlElement, parent?: OpenList): void {
  const list = reader.numbering.open(element, parent)
  for (const item of elements(element)) {
    if (item.name === 'list-item' || item.name === 'list-header') addItem(reader, item, list)
  }
}

function addItem(reader: BodyReader, item: XmlElement, list: OpenList): void {
  const { numbering } = reader
  // An item that holds only another list is not counted: it continues the one before it.
  let isFirst = item.name === 'list-item'
  for (const child of elements(item)) {
    if (child.name === 'list') addList(reader, child, list)
    else if (child.name === 'p' || child.name === 'h') {
      const counted = isFirst ? numbering.item(list, item, styleOf(child)) : undefined
      addItemText(reader, child, list, isFirst ? (statedLabel(item) ?? counted) : undefined)
      isFirst = false
    } else if (child.name !== 'number') addBlock(reader, child)
  }
}

function addItemText(
  reader: BodyReader,
  element: XmlElement,
  list: OpenList,
  label: Label | undefined,
): void {
  const { inline, flow } = reader
  if (element.name === 'h') {
    addHeading(reader, element, label?.type === 'text' ? label : undefined)
    return
  }
  const { spans, attachments } = inline.read(element)
  if (isShown(spans)) {
    if (label !== undefined) flow.item(labelledItem(label, list.level, spans))
    else if (!flow.more(paragraph(toPhrasing(spans)))) flow.block(paragraph(toPhrasing(spans)))
  }
  addAttachments(reader, attachments)
}

function addTable(reader: BodyReader, element: XmlElement): void {
  const { flow } = reader
  flow.close()
  const rows = rowsOf(element)
  if (rows.every((row) => elements(row, 'table-cell').length < 2)) {
    for (const row of rows) for (const cell of elements(row)) addBlocks(reader, cell)
    return
  }
  const later: OdtAttachment[] = []
  flow.block(readTable(rows, (cell) => toPhrasing(readCell(reader, cell, later))))
  addAttachments(reader, later)
}

/**
 * The texts of the blocks in a cell, in one line.
 *
 * @param later receives blocks that do not fit into a line; they follow the table
 */
function readCell(
  reader: BodyReader,
  parent: XmlElement,
  later: OdtAttachment[],
  list?: OpenList,
): Span[] {
  const { inline, numbering } = reader
  return elements(parent).flatMap((child): Span[] => {
    switch (child.name) {
      case 'p':
      case 'h': {
        const { spans, attachments } = inline.read(child)
        const others = attachments.filter(({ type }) => type !== 'box')
        append(later, others)
        const boxed = attachments.flatMap((each) =>
          each.type === 'box' ? readCell(reader, each.content, later) : [],
        )
        return [...spans, { text: ' ' }, ...boxed]
      }
      case 'list': {
        const inner = numbering.open(child, list)
        return elements(child).flatMap((item) => {
          const [first] = elements(item).filter(({ name }) => name !== 'number')
          const isCounted = item.name === 'list-item' && first?.name === 'p'
          const label = isCounted ? numbering.item(inner, item, styleOf(first)) : undefined
          return withLabel(label, readCell(reader, item, later, inner))
        })
      }
      case 'number':
        return []
      default:
        return readCell(reader, child, later, list)
    }
  })
}

function styleOf(element: XmlElement | undefined): string {
  return attribute(element, 'style-name') ?? ''
}

function isShown(spans: readonly Span[]): boolean {
  return spanText(spans) !== '' || spans.some((span) => span.node?.type === 'image')
}

/** The label that the program wrote into the file, for others that do not count. */
function statedLabel(element: XmlElement): Label | undefined {
  const text = textContent(descend(element, 'number')).replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : { type: 'text', text }
}

function addText(flow: Flow, styles: readonly string[], spans: readonly Span[]): void {
  const children = toPhrasing(spans)
  // Direct formatting makes styles such as P1 and P2, which are based on the named style.
  if (styles.includes('Title')) flow.block({ ...heading(1, children), data: { isTitle: true } })
  else if (styles.includes('Subtitle')) flow.block(heading(2, children))
  else if (styles.includes('Quotations')) {
    flow.block({ type: 'blockquote', children: [paragraph(children)] })
  } else if (styles.includes('Preformatted_20_Text')) {
    flow.code(spans.map((span) => (span.node === undefined ? span.text : '\n')).join(''))
  } else flow.block(paragraph(children))
}

/** Reads a table. Merged cells are repeated in every row and column that they cover. */
export function readTable(
  rows: readonly XmlElement[],
  readCell: (cell: XmlElement) => PhrasingContent[],
): Table {
  const copies = createCellCopies()
  /** The merged cell that covers each column, and the number of further rows that it covers. */
  let covers: ({ content: PhrasingContent[]; rows: number } | undefined)[] = []
  const read: PhrasingContent[][][] = []
  let total = 0
  for (const row of rows) {
    const cells: PhrasingContent[][] = []
    for (const cell of elements(row)) {
      if (cell.name !== 'table-cell' && cell.name !== 'covered-table-cell') continue
      const isCovered = cell.name === 'covered-table-cell'
      const content = isCovered ? [] : readCell(cell)
      const stated = Math.min(
        spanOf(Number(attribute(cell, 'number-columns-repeated'))),
        maxRepeated,
      )
      const times = total < maxCells ? stated : 1
      total += times
      for (let count = 0; count < times && cells.length < maxColumns; count += 1) {
        const column = cells.length
        if (isCovered) cells.push(copies.copy(covers[column]?.content ?? []))
        else {
          cells.push(content)
          cover(covers, column, cell, content)
        }
      }
    }
    covers = covers.map((each) =>
      each && each.rows > 1 ? { ...each, rows: each.rows - 1 } : undefined,
    )
    const repeated = spanOf(Number(attribute(row, 'number-rows-repeated')))
    const isBlank = cells.every((cell) => cell.length === 0)
    for (let count = 0; count < (isBlank ? 1 : Math.min(repeated, maxRepeated)); count += 1) {
      if (count > 0) total += cells.length
      if (count > 0 && total > maxCells) break
      read.push(count === 0 ? cells : cells.map(copies.copy))
    }
  }
  return table(read)
}

function cover(
  covers: ({ content: PhrasingContent[]; rows: number } | undefined)[],
  column: number,
  cell: XmlElement,
  content: PhrasingContent[],
): void {
  const columns = spanOf(Number(attribute(cell, 'number-columns-spanned')))
  const rows = spanOf(Number(attribute(cell, 'number-rows-spanned')))
  for (let at = column; at < Math.min(column + columns, maxColumns); at += 1) {
    covers[at] = { content, rows }
  }
}

export function rowsOf(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === 'table-row') return [child]
    const wraps = ['table-header-rows', 'table-rows', 'table-row-group'].includes(child.name)
    return wraps ? rowsOf(child) : []
  })
}

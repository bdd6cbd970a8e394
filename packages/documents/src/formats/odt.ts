import type { BlockContent, DefinitionContent, List, ListItem, PhrasingContent, Root } from 'mdast'
import {
  damaged,
  type Extraction,
  passwordProtected,
  readingAs,
  type Source,
} from '../document/extraction.js'
import {
  firstHeading,
  heading,
  paragraph,
  type Span,
  spanText,
  table,
  toPhrasing,
  toTitle,
} from '../document/nodes.js'
import { openArchive } from './archive.js'
import {
  attribute,
  elements,
  findElements,
  parseXml,
  readXml,
  textContent,
  type XmlElement,
} from './xml.js'

const formatName = 'an OpenDocument text (.odt)'

/** Elements that are read as a whole. `tracked-changes` and indexes are among them to be skipped. */
const wholeElements: ReadonlySet<string> = new Set(
  'p h list table tracked-changes table-of-content alphabetical-index illustration-index table-index object-index user-index bibliography style forms'.split(
    ' ',
  ),
)

type Block = BlockContent | DefinitionContent

/** Reads an OpenDocument text: headings, lists, tables, notes and text boxes. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const archive = await openArchive(source, formatName)
    if (!archive.has('content.xml')) throw damaged(formatName, new Error('its content is missing'))
    if (await isEncrypted(archive)) throw passwordProtected(formatName)
    const root: Root = { type: 'root', children: [] }
    const parents = new Map<string, string>()
    readXml(await archive.read('content.xml'), {
      wanted: wholeElements,
      visit(element) {
        if (element.name === 'style') {
          const parent = attribute(element, 'parent-style-name')
          if (parent !== undefined) parents.set(attribute(element, 'name') ?? '', parent)
        } else root.children.push(...readPart(element, parents))
      },
    })
    const meta = archive.has('meta.xml')
      ? parseXml(await archive.read('meta.xml'), 'meta')
      : undefined
    const stated = meta && findElements(meta, 'title')[0]
    const title = firstHeading(root) ?? toTitle(textContent(stated))
    return title === undefined ? { root } : { root, title }
  })
}

function readPart(element: XmlElement, parents: ReadonlyMap<string, string>): Block[] {
  switch (element.name) {
    case 'p':
    case 'h':
      return readParagraph(element, parents)
    case 'list':
      return readList(element)
    case 'table':
      return readTable(element, (inner) => readPart(inner, parents))
    default:
      return []
  }
}

function readParagraph(element: XmlElement, parents: ReadonlyMap<string, string>): Block[] {
  const { spans, boxes, notes } = readInline(element)
  const blocks: Block[] = []
  if (spanText(spans) !== '' || spans.some((span) => span.node?.type === 'image')) {
    blocks.push(toBlock(element, toPhrasing(spans), parents))
  }
  for (const box of boxes) {
    for (const inner of elements(box)) blocks.push(...readPart(inner, parents))
  }
  for (const { identifier, text } of notes) {
    blocks.push({ type: 'footnoteDefinition', identifier, children: [paragraph(text)] })
  }
  return blocks
}

function toBlock(
  element: XmlElement,
  children: ReturnType<typeof toPhrasing>,
  parents: ReadonlyMap<string, string>,
): Block {
  if (element.name === 'h') {
    return heading(Number(attribute(element, 'outline-level') ?? 1) || 1, children)
  }
  const own = attribute(element, 'style-name') ?? ''
  // Direct formatting makes styles such as P1 and P2, whose parent is the named style.
  switch (parents.get(own) ?? own) {
    case 'Title':
      return heading(1, children)
    case 'Subtitle':
      return heading(2, children)
    case 'Quotations':
      return { type: 'blockquote', children: [paragraph(children)] }
    case 'Preformatted_20_Text':
      return { type: 'code', value: spanText(readInline(element).spans) }
    default:
      return paragraph(children)
  }
}

async function isEncrypted(archive: Awaited<ReturnType<typeof openArchive>>): Promise<boolean> {
  if (!archive.has('META-INF/manifest.xml')) return false
  const manifest = parseXml(await archive.read('META-INF/manifest.xml'), 'manifest')
  return findElements(manifest, 'encryption-data').length > 0
}

/** Repetitions of one cell: empty cells up to the edge of the sheet are written as one. */
const maxRepeated = 20

/** A list with its nested lists. Their numbering is defined elsewhere, so all are bullet lists. */
function readList(element: XmlElement): List[] {
  const children: ListItem[] = []
  for (const item of elements(element)) {
    if (item.name !== 'list-item' && item.name !== 'list-header') continue
    const content = elements(item).flatMap((child): BlockContent[] => {
      if (child.name === 'list') return readList(child)
      if (child.name !== 'p' && child.name !== 'h') return []
      return [paragraph(toPhrasing(readInline(child).spans))]
    })
    children.push({ type: 'listItem', spread: false, children: content })
  }
  return [{ type: 'list', ordered: false, spread: false, children }]
}

/**
 * Reads a table. Merged cells are repeated in every row that they cover; a table of a single column is
 * read as its content.
 */
function readTable(element: XmlElement, readBlock: (element: XmlElement) => Block[]): Block[] {
  const rows = rowsOf(element)
  if (rows.every((row) => elements(row, 'table-cell').length < 2)) {
    return rows.flatMap((row) => elements(row).flatMap((cell) => elements(cell).flatMap(readBlock)))
  }
  const read: PhrasingContent[][][] = []
  for (const row of rows) read.push(readRow(row, read.at(-1) ?? []))
  return [table(read)]
}

function rowsOf(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === 'table-row') return [child]
    const wraps = ['table-header-rows', 'table-rows', 'table-row-group'].includes(child.name)
    return wraps ? rowsOf(child) : []
  })
}

function readRow(row: XmlElement, above: readonly PhrasingContent[][]): PhrasingContent[][] {
  const cells: PhrasingContent[][] = []
  for (const cell of elements(row)) {
    const isCovered = cell.name === 'covered-table-cell'
    if (!isCovered && cell.name !== 'table-cell') continue
    const content = isCovered ? (above[cells.length] ?? []) : readCell(cell)
    const times = Number(attribute(cell, 'number-columns-repeated') ?? 1) || 1
    for (let count = 0; count < Math.min(times, maxRepeated); count += 1) cells.push(content)
  }
  return cells
}

function readCell(cell: XmlElement): PhrasingContent[] {
  const texts = [...findElements(cell, 'p'), ...findElements(cell, 'h')]
  const spans = texts.flatMap((each, index) => [
    ...(index === 0 ? [] : [{ text: ' ' }]),
    ...readInline(each).spans,
  ])
  return toPhrasing(spans)
}

/** The content of a paragraph. */
interface InlineContent {
  spans: Span[]
  /** Text boxes that are anchored in the paragraph. */
  boxes: XmlElement[]
  notes: { identifier: string; text: string }[]
}

/** Spaces that are written as one element; more are a mistake or an attack. */
const maxSpaces = 100
/** Elements that are not text of the document: comments, furigana, bookmarks. */
const hiddenElements: ReadonlySet<string> = new Set([
  'annotation',
  'ruby-text',
  'bookmark',
  'change',
])

/** Reads the text of a paragraph or heading. */
function readInline(element: XmlElement): InlineContent {
  const content: InlineContent = { spans: [], boxes: [], notes: [] }
  readAll(element, undefined, content)
  return content
}

function readAll(parent: XmlElement, url: string | undefined, content: InlineContent): void {
  for (const child of parent.children) {
    if (typeof child !== 'string') readOne(child, url, content)
    // Line breaks and indentation in the file are not text.
    else content.spans.push(withLink(child.replace(/\s+/g, ' '), url))
  }
}

function readOne(element: XmlElement, url: string | undefined, content: InlineContent): void {
  if (hiddenElements.has(element.name)) return
  switch (element.name) {
    case 'a':
      readAll(element, attribute(element, 'href'), content)
      return
    case 's': {
      const count = Math.min(Number(attribute(element, 'c') ?? 1) || 1, maxSpaces)
      content.spans.push(withLink(' '.repeat(count), url))
      return
    }
    case 'tab':
      content.spans.push(withLink(' ', url))
      return
    case 'line-break':
      content.spans.push({ text: '', node: { type: 'break' } })
      return
    case 'note':
      readNote(element, content)
      return
    case 'frame':
    case 'custom-shape':
      readFrame(element, content)
      return
    default:
      readAll(element, url, content)
  }
}

function readNote(element: XmlElement, content: InlineContent): void {
  // Readers see the citation mark; the id was generated by the program that wrote the file.
  const mark = elements(element, 'note-citation').map(textContent).join('').trim()
  const prefix = attribute(element, 'note-class') === 'endnote' ? 'e' : ''
  const id = attribute(element, 'id') ?? `n${content.notes.length}`
  const identifier = /^[\p{L}\p{N}]+$/u.test(mark) ? `${prefix}${mark}` : id
  const body = elements(element, 'note-body').map(textContent).join(' ')
  content.spans.push({ text: '', node: { type: 'footnoteReference', identifier } })
  content.notes.push({ identifier, text: body.replace(/\s+/g, ' ').trim() })
}

function readFrame(element: XmlElement, content: InlineContent): void {
  const boxes = findElements(element, 'text-box')
  content.boxes.push(...boxes)
  if (boxes.length > 0) return
  const described = [...elements(element, 'desc'), ...elements(element, 'title')]
  const alt = described.map(textContent).find((text) => text.trim() !== '')
  if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
}

function withLink(text: string, url: string | undefined): Span {
  return url === undefined ? { text } : { text, url }
}

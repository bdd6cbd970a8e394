import type { FlowBlock } from '../document/flow.js'
import type { Span } from '../document/nodes.js'
import { commentText, paragraph, spanText } from '../document/nodes.js'
import type { OmissionPlace, Omissions } from '../document/omissions.js'
import { pageNumberMark } from './headers-footers.js'
import { readFormula } from './mathml.js'
import type { OdtStyles } from './odt-styles.js'
import { levelSpans, type PlacedSpan } from './raised-spans.js'
import {
  isSymbolFont,
  type OnUnknownSymbol,
  shownText,
  unknownSymbolReporter,
} from './symbol-fonts.js'
import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

/** Content of a paragraph beside its text, in order. */
export type OdtAttachment =
  /** A text box or a shape with text. */
  { type: 'box'; content: XmlElement } | { type: 'blocks'; blocks: FlowBlock[] }

/** The content of a paragraph. */
interface InlineContent {
  spans: Span[]
  attachments: OdtAttachment[]
}

/** An object inside of a document, by the name of its folder. */
export type OdtObject = { type: 'formula'; text: string } | { type: 'blocks'; blocks: FlowBlock[] }

/** Context of the paragraphs of a document. */
export interface OdtTextContext {
  styles: OdtStyles
  objects: ReadonlyMap<string, OdtObject>
  omissions: Omissions
  place?: OmissionPlace
  /** Whether the paragraphs stand at the edge of pages: tabs and numbers of pages are kept apart. */
  isHeaderOrFooter?: boolean
}

/** Spaces that are written as one element; more are a mistake or an attack. */
const maxSpaces = 100
/** Elements without text of the document. */
const hiddenElements: ReadonlySet<string> = new Set(
  'bookmark bookmark-start bookmark-end change change-start change-end annotation-end number event-listeners script tracked-changes'.split(
    ' ',
  ),
)
const shapes: ReadonlySet<string> = new Set(
  'custom-shape rect ellipse circle line polyline polygon path connector caption measure'.split(
    ' ',
  ),
)

type Format = Omit<PlacedSpan, 'text' | 'node'> & { font?: string }

/** State that the paragraphs of one part share. */
interface Reader {
  context: OdtTextContext
  onUnknown: OnUnknownSymbol
}

interface Content {
  reader: Reader
  spans: PlacedSpan[]
  attachments: OdtAttachment[]
  /** Readings of characters (ruby) that stand behind the word that they belong to. */
  reading: string
  /** Notes so far, whose numbers are not stated. */
  notes: number
  /** Whether a formula came last, from which a word stays apart. */
  isAfterFormula: boolean
}

/** Reads the text of paragraphs and headings. */
export interface InlineReader {
  read(element: XmlElement): InlineContent
  /** Reads a frame or a shape that stands in no paragraph. */
  readFrame(element: XmlElement): InlineContent
}

export function createInlineReader(context: OdtTextContext): InlineReader {
  const { omissions, place } = context
  const reader: Reader = {
    context,
    onUnknown: unknownSymbolReporter(omissions, place),
  }
  return {
    read: (element) => read(reader, element),
    readFrame: (element) => read(reader, { name: 'p', attributes: {}, children: [element] }),
  }
}

function read(reader: Reader, element: XmlElement): InlineContent {
  const { omissions, place } = reader.context
  const content: Content = {
    reader,
    spans: [],
    attachments: [],
    reading: '',
    notes: 0,
    isAfterFormula: false,
  }
  if (isHiddenParagraph(element)) omissions.add('hidden_text', place)
  else readAll(element, formatOf(reader, element, {}), content)
  endReading(content)
  return { spans: levelSpans(content.spans), attachments: content.attachments }
}

function formatOf(
  reader: Reader,
  element: XmlElement,
  outer: Format,
): Format & { hidden?: boolean } {
  const { styles } = reader.context
  const name = attribute(element, 'style-name')
  if (name === undefined) return outer
  const { font, ...style } = styles.text(name)
  return { ...outer, ...style, ...(font !== undefined && { font }) }
}

function readAll(
  parent: XmlElement,
  format: Format & { hidden?: boolean },
  content: Content,
): void {
  const { omissions, place } = content.reader.context
  const { hidden, ...shown } = format
  if (hidden === true) {
    if (textContent(parent).trim() !== '') omissions.add('hidden_text', place)
    return
  }
  for (const child of parent.children) {
    if (typeof child !== 'string') readOne(child, shown, content)
    // Line breaks and indentation in the file are not text.
    else add(child.replace(/[ \t\r\n]+/g, ' '), shown, content)
  }
}

function add(text: string, { font, ...format }: Format, content: Content): void {
  const { onUnknown } = content.reader
  if (text === '') return
  endReading(content)
  const symbols = isSymbolFont(font) ? font : undefined
  const shown = shownText(text, symbols, onUnknown)
  const gap = content.isAfterFormula && /^[\p{L}\p{N}]/u.test(shown) ? ' ' : ''
  content.isAfterFormula = false
  content.spans.push({ ...format, text: `${gap}${shown}` })
}

function readOne(element: XmlElement, format: Format, content: Content): void {
  const { context } = content.reader
  if (hiddenElements.has(element.name)) return
  switch (element.name) {
    case 'a': {
      const url = attribute(element, 'href')
      readAll(element, { ...format, ...(url !== undefined && { url }) }, content)
      return
    }
    case 'span':
      readAll(element, formatOf(content.reader, element, format), content)
      return
    case 's': {
      const count = Math.trunc(Number(attribute(element, 'c') ?? 1)) || 1
      add(' '.repeat(Math.min(Math.max(count, 1), maxSpaces)), format, content)
      return
    }
    case 'tab':
      add(context.isHeaderOrFooter === true ? '\t' : ' ', format, content)
      return
    case 'line-break':
      endReading(content)
      content.spans.push({ text: '', node: { type: 'break' } })
      return
    case 'note':
      readNote(element, content)
      return
    case 'annotation':
      content.attachments.push({ type: 'blocks', blocks: commentOf(content.reader, element) })
      return
    default:
      readObject(element, format, content)
  }
}

function readObject(element: XmlElement, format: Format, content: Content): void {
  const { context } = content.reader
  const { omissions, place } = content.reader.context
  switch (element.name) {
    case 'frame':
      readFrame(element, content)
      return
    case 'g':
      for (const child of elements(element)) readOne(child, format, content)
      return
    case 'page-number':
    case 'page-count':
      if (context.isHeaderOrFooter === true) add(pageNumberMark, {}, content)
      else readAll(element, format, content)
      return
    case 'ruby':
      readRuby(element, format, content)
      return
    case 'hidden-text':
      if (attribute(element, 'is-hidden') === 'true') omissions.add('hidden_text', place)
      else readAll(element, format, content)
      return
    default:
      if (shapes.has(element.name)) readShape(element, content)
      else readAll(element, format, content)
  }
}

/** Readings follow the whole word, so that they do not tear it apart. */
function readRuby(element: XmlElement, format: Format, content: Content): void {
  const { reading } = content
  content.reading = ''
  for (const base of elements(element, 'ruby-base')) readAll(base, format, content)
  content.reading = reading + elements(element, 'ruby-text').map(textContent).join('')
}

function readNote(element: XmlElement, content: Content): void {
  // Readers see the citation mark; the id was generated by the program that wrote the file.
  const mark = elements(element, 'note-citation').map(textContent).join('').trim()
  const prefix = attribute(element, 'note-class') === 'endnote' ? 'e' : ''
  const id = attribute(element, 'id') ?? `n${content.notes}`
  content.notes += 1
  const identifier = /^[\p{L}\p{N}]+$/u.test(mark) ? `${prefix}${mark}` : id
  const text = textOf(content.reader, elements(element, 'note-body'))
  content.spans.push({ text: '', node: { type: 'footnoteReference', identifier } })
  content.attachments.push({
    type: 'blocks',
    blocks: [{ type: 'footnoteDefinition', identifier, children: [paragraph(text)] }],
  })
}

function commentOf(reader: Reader, element: XmlElement): FlowBlock[] {
  const author = textContent(descend(element, 'creator')).replace(/\s+/g, ' ').trim()
  const text = textOf(reader, [element])
  if (text === '') return []
  return [paragraph(commentText(author, text))]
}

/** The paragraphs of notes and comments in one line. */
function textOf(reader: Reader, parents: readonly XmlElement[]): string {
  const texts = parents.flatMap((parent) => findElements(parent, 'p'))
  return texts
    .map((each) => spanText(read(reader, each).spans))
    .filter((text) => text !== '')
    .join(' ')
}

function readFrame(element: XmlElement, content: Content): void {
  const boxes = elements(element, 'text-box')
  for (const box of boxes) content.attachments.push({ type: 'box', content: box })
  if (boxes.length > 0) return
  if (elements(element, 'table').length > 0) {
    content.attachments.push({ type: 'box', content: element })
    return
  }
  for (const object of elements(element, 'object')) {
    if (readEmbedded(object, content)) return
  }
  const alt = altOf(element)
  if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
  else reportUnread(content.reader, element)
}

function readEmbedded(object: XmlElement, content: Content): boolean {
  const { objects } = content.reader.context
  const inline = descend(object, 'math')
  const folder = (attribute(object, 'href') ?? '').replace(/^\.\//, '').replace(/\/$/, '')
  const formula = inline && readFormula(inline)
  const known: OdtObject | undefined =
    formula === undefined ? objects.get(folder) : { type: 'formula', text: formula.text }
  if (known === undefined) return false
  if (known.type === 'blocks') {
    content.attachments.push({ type: 'blocks', blocks: known.blocks })
    return known.blocks.length > 0
  }
  const before = content.spans.at(-1)?.text ?? ''
  // A formula is apart from the number in front of it: 2 ½ is not 21/2.
  const gap = /[\p{L}\p{N}]$/u.test(before) ? ' ' : ''
  add(`${gap}${known.text}`, {}, content)
  content.isAfterFormula = true
  return known.text !== ''
}

function reportUnread(reader: Reader, element: XmlElement): void {
  const { omissions, place } = reader.context
  const embedded = [...elements(element, 'object'), ...elements(element, 'object-ole')]
  const isObject = embedded.length > 0
  const pictures = isObject ? embedded : elements(element, 'image')
  for (const picture of pictures) {
    const part = (attribute(picture, 'href') ?? '').replace(/^\.\//, '')
    const where = { ...place, ...(part !== '' && { part }) }
    omissions.add(isObject ? 'embedded_file' : 'picture_without_text', where)
  }
}

function readShape(element: XmlElement, content: Content): void {
  const isText = findElements(element, 'p').some((each) => textContent(each).trim() !== '')
  if (isText) content.attachments.push({ type: 'box', content: element })
  else {
    const alt = altOf(element)
    if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
  }
}

function endReading(content: Content): void {
  if (content.reading === '') return
  content.spans.push({ text: `(${content.reading})` })
  content.reading = ''
}

function altOf(element: XmlElement): string | undefined {
  const described = [...elements(element, 'desc'), ...elements(element, 'title')]
  const text = described.map(textContent).find((each) => each.trim() !== '')
  return text?.replace(/\s+/g, ' ').trim()
}

function isHiddenParagraph(element: XmlElement): boolean {
  return elements(element, 'hidden-paragraph').some(
    (each) => attribute(each, 'is-hidden') === 'true',
  )
}

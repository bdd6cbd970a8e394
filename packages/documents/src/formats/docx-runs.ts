import type { FlowBlock } from '../document/flow.js'
import type { Span } from '../document/nodes.js'
import type { OmissionPlace, Omissions } from '../document/omissions.js'
import { readDrawing } from './docx-drawings.js'
import { createFields, type Fields, isLeftOut, isPageNumber } from './docx-fields.js'
import { type CharacterStyle, characterStyleOf, toggle } from './docx-styles.js'
import { pageNumberMark } from './headers-footers.js'
import type { LinkedParts } from './office-parts.js'
import { formulaText } from './omml.js'
import type { Relations } from './opc.js'
import { levelSpans, type PlacedSpan } from './raised-spans.js'
import {
  isSymbolFont,
  type OnUnknownSymbol,
  shownText,
  symbolOf,
  unknownSymbolReporter,
} from './symbol-fonts.js'
import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

interface NoteReference {
  kind: 'footnote' | 'endnote'
  /** Id of the note in the file. */
  id: string
  /** Number that readers see, from 1; that of an endnote has the prefix `e`. */
  identifier: string
}

/** Content of a paragraph beside its text, in order. */
export type Attachment =
  /** The content of a text box that is anchored in the paragraph. */
  | { type: 'box'; content: XmlElement }
  /** A chart, a diagram or a file. */
  | { type: 'part'; blocks: FlowBlock[] }
  | { type: 'note'; note: NoteReference }
  | { type: 'comment'; id: string }

/** The content of a paragraph. */
interface ParagraphContent {
  spans: Span[]
  attachments: Attachment[]
}

/** Reads the text of paragraphs. */
export interface RunReader {
  read(paragraph: XmlElement): ParagraphContent
  /** Whether a field is open: at the end of the document, one was never ended. */
  readonly isInField: boolean
}

/** Context of the paragraphs of a part. */
export interface RunContext {
  /** Of the part that the paragraphs are in. */
  relations: Relations
  parts: LinkedParts
  characters: ReadonlyMap<string, CharacterStyle>
  omissions: Omissions
  place?: OmissionPlace
  /** Whether all text of fields is read, because some are broken. */
  ignoresFields?: boolean
  /** Whether the paragraphs stand at the edge of pages: tabs and numbers of pages are kept apart. */
  isHeaderOrFooter?: boolean
}

/** Elements whose text is not shown: deletions, properties, readings of characters. */
const hiddenElements: ReadonlySet<string> = new Set(
  'del moveFrom delText delInstrText pPr rPr sdtPr sdtEndPr fldData annotationRef ffData'.split(
    ' ',
  ),
)

/** Text in the format that is open where it stands. */
type Format = Omit<PlacedSpan, 'text' | 'node'> & { font?: string }

/** State that the paragraphs of one part share. */
interface Reader {
  context: RunContext
  fields: Fields
  toNote(reference: XmlElement): NoteReference
  onUnknown: OnUnknownSymbol
}

interface Content {
  reader: Reader
  spans: PlacedSpan[]
  attachments: Attachment[]
  /** Readings of characters (ruby) that stand behind the word that they belong to. */
  reading: string
  /** Whether a formula came last, from which a word stays apart. */
  isAfterFormula: boolean
}

export function createRunReader(context: RunContext): RunReader {
  const { omissions, place } = context
  const fields = createFields()
  const reader: Reader = {
    context,
    fields,
    toNote: createNoteCounter(),
    onUnknown: unknownSymbolReporter(omissions, place),
  }
  return {
    read(paragraph) {
      const content = emptyContent(reader)
      readAll(paragraph, {}, content)
      endReading(content)
      return { spans: levelSpans(content.spans), attachments: content.attachments }
    },
    get isInField() {
      return fields.isOpen
    },
  }
}

function emptyContent(reader: Reader): Content {
  return { reader, spans: [], attachments: [], reading: '', isAfterFormula: false }
}

function readAll(parent: XmlElement, format: Format, content: Content): void {
  for (const child of elements(parent)) readOne(child, format, content)
}

function readOne(element: XmlElement, format: Format, content: Content): void {
  const { relations } = content.reader.context
  if (hiddenElements.has(element.name)) return
  switch (element.name) {
    case 'r':
      readRun(element, format, content)
      return
    case 't':
      add(textContent(element), format, content)
      return
    case 'hyperlink': {
      const relation = relations.get(attribute(element, 'id') ?? '')
      const link = relation?.external === true ? { url: relation.target } : {}
      readAll(element, { ...format, ...link }, content)
      return
    }
    case 'drawing':
    case 'pict':
    case 'object':
      addDrawing(element, content)
      return
    case 'AlternateContent': {
      // The same content twice, for new and for old programs.
      const chosen = descend(element, 'Choice') ?? descend(element, 'Fallback')
      readAll(chosen ?? element, format, content)
      return
    }
    case 'sdt':
      readControl(element, format, content)
      return
    case 'ruby':
      readRuby(element, format, content)
      return
    case 'oMath':
    case 'oMathPara':
      addFormula(element, content)
      return
    default:
      if (!readField(element, format, content) && !readReference(element, content)) {
        readMark(element, format, content)
      }
  }
}

function readRun(element: XmlElement, format: Format, content: Content): void {
  const { fields } = content.reader
  const { characters, omissions, place } = content.reader.context
  const properties = descend(element, 'rPr')
  if (properties === undefined) {
    readAll(element, format, content)
    return
  }
  const style = characters.get(attribute(descend(properties, 'rStyle'), 'val') ?? '')
  const own = { ...style, ...characterStyleOf(properties) }
  if (own.hidden === true) {
    // Fields go on in hidden runs, and deleted text is not hidden but gone.
    for (const child of elements(element)) {
      if (child.name === 'fldChar') fields.mark(child)
      else if (child.name === 'instrText') fields.instruction(textContent(child))
    }
    const isText = findElements(element, 't').some((text) => textContent(text).trim() !== '')
    if (isText && isShown(content)) omissions.add('hidden_text', place)
    return
  }
  const { position } = own
  readAll(
    element,
    {
      ...format,
      ...(toggle(properties, 'b') === true && { bold: true }),
      ...(toggle(properties, 'i') === true && { italic: true }),
      ...(position !== undefined && position !== 'none' && { position }),
      ...(isSymbolFont(own.font) && { font: own.font }),
    },
    content,
  )
}

function isShown(content: Content): boolean {
  const { context, fields } = content.reader
  return fields.isShown || context.ignoresFields === true
}

function add(text: string, { font, ...format }: Format, content: Content): void {
  const { fields, onUnknown } = content.reader
  if (text === '' || !isShown(content)) return
  endReading(content)
  const url = fields.url
  const shown = shownText(text, font, onUnknown)
  const gap = content.isAfterFormula && /^[\p{L}\p{N}]/u.test(shown) ? ' ' : ''
  content.isAfterFormula = false
  content.spans.push({ ...(url !== undefined && { url }), ...format, text: `${gap}${shown}` })
}

function addBreak(content: Content): void {
  endReading(content)
  if (isShown(content)) content.spans.push({ text: '', node: { type: 'break' } })
}

function addPageNumber(content: Content): void {
  const { context } = content.reader
  if (context.isHeaderOrFooter === true) content.spans.push({ text: pageNumberMark })
}

function readField(element: XmlElement, format: Format, content: Content): boolean {
  const { fields } = content.reader
  switch (element.name) {
    case 'fldChar': {
      const text = fields.mark(element)
      if (text === pageNumberMark) addPageNumber(content)
      else add(text, format, content)
      return true
    }
    case 'instrText':
      fields.instruction(textContent(element))
      return true
    case 'fldSimple': {
      const instruction = attribute(element, 'instr') ?? ''
      if (isPageNumber(instruction)) addPageNumber(content)
      else if (!isLeftOut(instruction)) readAll(element, format, content)
      return true
    }
    case 'pgNum':
      addPageNumber(content)
      return true
    default:
      return false
  }
}

function readMark(element: XmlElement, format: Format, content: Content): void {
  const { context } = content.reader
  switch (element.name) {
    case 'tab':
    case 'ptab':
      add(context.isHeaderOrFooter === true ? '\t' : ' ', format, content)
      return
    case 'br':
    case 'cr':
      addBreak(content)
      return
    case 'noBreakHyphen':
      add('-', format, content)
      return
    case 'softHyphen':
      return
    case 'sym':
      readSymbol(element, format, content)
      return
    default:
      readAll(element, format, content)
  }
}

function readSymbol(element: XmlElement, format: Format, content: Content): void {
  const { onUnknown } = content.reader
  const font = attribute(element, 'font') ?? ''
  const code = Number.parseInt(attribute(element, 'char') ?? '', 16)
  if (Number.isNaN(code) || code > 0x10ffff) return
  const { font: _, ...plain } = format
  const isPrivate = code >= 0xe000 && code <= 0xf8ff
  // Of a font of letters, the code is that of the character.
  const known = symbolOf(font, code)
  const shown = known ?? (isPrivate || isSymbolFont(font) ? ' ' : String.fromCodePoint(code))
  if (known === undefined && shown === ' ') onUnknown(font, code)
  add(shown, plain, content)
}

/** Readings follow the whole word, so that they do not tear it apart. */
function readRuby(element: XmlElement, format: Format, content: Content): void {
  const { reading } = content
  content.reading = ''
  const base = descend(element, 'rubyBase')
  if (base !== undefined) readAll(base, format, content)
  const shown = emptyContent(content.reader)
  const text = descend(element, 'rt')
  if (text !== undefined) readAll(text, {}, shown)
  content.reading = reading + shown.spans.map((span) => span.text).join('')
}

/** A content control: its content, but not the request to fill it in. */
function readControl(element: XmlElement, format: Format, content: Content): void {
  const properties = descend(element, 'sdtPr')
  if (toggle(properties, 'showingPlcHdr') === true) return
  const box = descend(properties, 'checkbox')
  if (box === undefined) {
    readAll(element, format, content)
    return
  }
  const isChecked = ['1', 'true', 'on'].includes(attribute(descend(box, 'checked'), 'val') ?? '0')
  add(isChecked ? '[x]' : '[ ]', format, content)
}

function readReference(element: XmlElement, content: Content): boolean {
  const { toNote } = content.reader
  switch (element.name) {
    case 'footnoteReference':
    case 'endnoteReference': {
      const note = toNote(element)
      content.attachments.push({ type: 'note', note })
      const { identifier } = note
      content.spans.push({ text: '', node: { type: 'footnoteReference', identifier } })
      return true
    }
    case 'commentReference':
      content.attachments.push({ type: 'comment', id: attribute(element, 'id') ?? '' })
      return true
    default:
      return false
  }
}

/** A text box is read as its text, a chart or a file as its content, a picture as its alternative text. */
function addDrawing(element: XmlElement, content: Content): void {
  const { context } = content.reader
  const { boxes, shown, lettering, alt } = readDrawing(element, context)
  for (const box of boxes) content.attachments.push({ type: 'box', content: box })
  for (const blocks of shown) content.attachments.push({ type: 'part', blocks })
  for (const text of lettering) add(text, {}, content)
  if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
}

/** Counts notes in the order in which they are referred to. */
function createNoteCounter(): (reference: XmlElement) => NoteReference {
  const numbers = { footnote: new Map<string, number>(), endnote: new Map<string, number>() }
  return (reference) => {
    const id = attribute(reference, 'id') ?? ''
    const kind = reference.name === 'endnoteReference' ? 'endnote' : 'footnote'
    const own = numbers[kind]
    const number = own.get(id) ?? own.size + 1
    own.set(id, number)
    return { kind, id, identifier: `${kind === 'endnote' ? 'e' : ''}${number}` }
  }
}

function addFormula(element: XmlElement, content: Content): void {
  endReading(content)
  const formulas = element.name === 'oMath' ? [element] : elements(element, 'oMath')
  const text = formulas.map(formulaText).join(' ')
  const before = content.spans.at(-1)?.text ?? ''
  // A formula is apart from the number in front of it: 2 ½ is not 21/2.
  const gap = /[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}(√]/u.test(text) ? ' ' : ''
  content.spans.push({ text: `${gap}${text}` })
  content.isAfterFormula = true
}

function endReading(content: Content): void {
  if (content.reading === '') return
  content.spans.push({ text: `(${content.reading})` })
  content.reading = ''
}

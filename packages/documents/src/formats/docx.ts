import type { PhrasingContent, Root } from 'mdast'
import { append } from '../document/append.js'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import {
  createFlow,
  type Flow,
  type FlowBlock,
  type Label,
  labelledItem,
  withLabel,
} from '../document/flow.js'
import {
  firstHeading,
  heading,
  paragraph,
  type Span,
  spanText,
  toPhrasing,
} from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { createNumbering, type Numbered, type Numbering } from './docx-numbering.js'
import { type Attachment, createRunReader, type RunReader } from './docx-runs.js'
import { readComments, readHeadersAndFooters, readNotes } from './docx-stories.js'
import {
  numberingOf,
  outlineLevel,
  type ParagraphStyle,
  readStyles,
  type Styles,
} from './docx-styles.js'
import { blocksOf, cellsOf, readTable, rowsOf } from './docx-tables.js'
import { createPartReader, type LinkedParts, reportMissingParts } from './office-parts.js'
import { documentTitle, type OfficePackage, openOffice, type Relations } from './opc.js'
import { attribute, descend, readXml, type XmlElement } from './xml.js'

const formatName = 'a Word document (.docx)'
/** In a document without headings, a bold line of at most this length is one. */
const maxBoldHeadingLength = 120

/**
 * Reads a Word document as it is shown: headings, clauses and lists with their numbers, tables, notes, comments, text
 * boxes, charts, and headers and footers once; tracked changes as accepted.
 */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const office = await openOffice(source, formatName)
    const omissions = createOmissions()
    const word = await openWord(office, source, omissions)
    const bytes = await office.archive.read(office.main)
    const first = readBody(word, bytes, { ignoresFields: false })
    // A field that never ends would hide the rest of the document.
    const { blocks, sections } = first.isInField
      ? readBody(word, bytes, { ignoresFields: true })
      : first
    if (!blocks.some((block) => block.type === 'heading')) promoteBoldLines(blocks)
    const { characters } = word.styles
    const headersAndFooters = await readHeadersAndFooters({ ...word, characters }, sections)
    const root: Root = { type: 'root', children: [...headersAndFooters, ...blocks] }
    const title = firstHeading(root) ?? (await documentTitle(office))
    return { root, ...(title !== undefined && { title }), omissions: omissions.list() }
  })
}

/** A Word document whose parts are open. */
interface WordDocument {
  office: OfficePackage
  relations: Relations
  parts: LinkedParts
  styles: Styles
  numbering: XmlElement | undefined
  notes: Readonly<Record<'footnote' | 'endnote', ReadonlyMap<string, string>>>
  comments: ReadonlyMap<string, string>
  omissions: Omissions
}

async function openWord(
  office: OfficePackage,
  source: Source,
  omissions: Omissions,
): Promise<WordDocument> {
  const relations = await office.relations(office.main)
  reportMissingParts(relations, office, omissions)
  const styles = readStyles(await optional(office, 'styles', 'styles'))
  const context = { characters: styles.characters, omissions }
  return {
    office,
    relations,
    parts: await createPartReader({ office, source, omissions }).read(relations),
    styles,
    numbering: await optional(office, 'numbering', 'numbering'),
    notes: {
      footnote: await readNotes(office, 'footnotes', 'footnote', context),
      endnote: await readNotes(office, 'endnotes', 'endnote', context),
    },
    comments: await readComments(office, context),
    omissions,
  }
}

async function optional(
  office: OfficePackage,
  type: string,
  root: string,
): Promise<XmlElement | undefined> {
  const part = await office.related(office.main, type)
  return part === undefined ? undefined : await office.parse(part, root)
}

/** The content of the body of a document. */
interface Body {
  blocks: FlowBlock[]
  /** Properties of its sections, which name headers and footers. */
  sections: XmlElement[]
  /** Whether a field was never ended. */
  isInField: boolean
}

/** State of reading the body: its elements follow each other in one flow. */
interface BodyReader {
  word: WordDocument
  runs: RunReader
  numbering: Numbering
  flow: Flow
  sections: XmlElement[]
}

const bodyElements: ReadonlySet<string> = new Set(['p', 'tbl', 'altChunk', 'sectPr', 'subDoc'])

function readBody(
  word: WordDocument,
  bytes: Uint8Array,
  { ignoresFields }: { ignoresFields: boolean },
): Body {
  const { relations, parts, styles, omissions } = word
  const { characters } = styles
  const runs = createRunReader({ relations, parts, characters, omissions, ignoresFields })
  const numbering = createNumbering(word.numbering, styles.lists)
  const reader: BodyReader = { word, runs, numbering, flow: createFlow(), sections: [] }
  readXml(bytes, { wanted: bodyElements, visit: (element) => addBlock(reader, element) })
  reader.flow.close()
  return { blocks: reader.flow.blocks, sections: reader.sections, isInField: runs.isInField }
}

function addBlock(reader: BodyReader, element: XmlElement): void {
  const { word, flow, sections } = reader
  switch (element.name) {
    case 'p':
      addParagraph(reader, element)
      return
    case 'tbl':
      addTable(reader, element)
      return
    case 'altChunk':
      chunkOf(word, element).forEach(flow.block)
      return
    case 'sectPr':
      sections.push(element)
      return
    case 'subDoc': {
      const target = word.relations.get(attribute(element, 'id') ?? '')?.target
      word.omissions.add('missing_part', target === undefined ? undefined : { part: target })
    }
  }
}

/** The blocks of a file that is embedded as a part of the text. */
function chunkOf({ parts }: WordDocument, element: XmlElement): FlowBlock[] {
  return parts.get(attribute(element, 'id') ?? '') ?? []
}

/** A paragraph with its style and its number. */
interface ReadParagraph {
  properties: XmlElement | undefined
  style: ParagraphStyle | undefined
  spans: Span[]
  attachments: Attachment[]
  numbered: Numbered | undefined
  /** Whether it shows nothing. */
  isEmpty: boolean
}

function readParagraph(reader: BodyReader, element: XmlElement): ReadParagraph {
  const { word, runs, numbering, sections } = reader
  const properties = descend(element, 'pPr')
  const section = descend(properties, 'sectPr')
  if (section !== undefined) sections.push(section)
  const styleId = attribute(descend(properties, 'pStyle'), 'val') ?? ''
  const style = word.styles.paragraphs.get(styleId)
  const { spans, attachments } = runs.read(element)
  const isEmpty = spanText(spans) === '' && !spans.some((span) => span.node?.type === 'image')
  const isHidden = style?.hidden === true
  if (isHidden && !isEmpty) word.omissions.add('hidden_text')
  const isGone = isHidden || (isEmpty && isRemoved(properties))
  const numbered = isGone ? undefined : numbering.next(numberingOf(properties), style)
  return { properties, style, spans, attachments, numbered, isEmpty: isEmpty || isGone }
}

function addParagraph(reader: BodyReader, element: XmlElement): void {
  const { flow } = reader
  const { properties, style, spans, attachments, numbered, isEmpty } = readParagraph(
    reader,
    element,
  )
  const level = outlineLevel(properties) ?? style?.level
  if (isEmpty) {
    if (style?.role === 'code') flow.blank()
  } else if (style?.role === 'contents') return
  else if (style?.role === 'title') {
    const title = heading(1, labelled(numbered?.label, spanText(spans)))
    flow.block({ ...title, data: { ...title.data, isTitle: true } })
  } else if (level !== undefined) {
    const plain = spans.map(({ bold, italic, ...rest }) => rest)
    flow.block(heading(level, toPhrasing(withLabel(numbered?.label, plain))))
  } else if (numbered?.label !== undefined) {
    flow.item(labelledItem(numbered.label, numbered.level, spans))
  } else if (numbered !== undefined && flow.more(paragraph(toPhrasing(spans)))) {
    // It goes on with the item before it.
  } else if (style?.role === 'code') {
    flow.code(spans.map((span) => (span.node === undefined ? span.text : '\n')).join(''))
  } else flow.block(inRole(style, toPhrasing(spans)))
  for (const attachment of attachments) addAttachment(reader, attachment)
}

function addAttachment(reader: BodyReader, attachment: Attachment): void {
  const { word, flow } = reader
  flow.after(() => {
    switch (attachment.type) {
      case 'box':
        for (const block of blocksOf(attachment.content)) addBlock(reader, block)
        return
      case 'part':
        attachment.blocks.forEach(flow.block)
        return
      case 'note': {
        const { kind, id, identifier } = attachment.note
        const note = word.notes[kind].get(id)
        if (note === undefined) return
        flow.block({ type: 'footnoteDefinition', identifier, children: [paragraph(note)] })
        return
      }
      case 'comment': {
        const comment = word.comments.get(attachment.id)
        if (comment !== undefined) flow.block(paragraph(comment))
      }
    }
  })
}

function addTable(reader: BodyReader, element: XmlElement): void {
  reader.flow.close()
  const later: Attachment[] = []
  const content = readTable(element, (cell) => toPhrasing(readCell(reader, cell, later)))
  if (content.type === 'layout') {
    for (const block of content.blocks) addBlock(reader, block)
    return
  }
  reader.flow.block(content.table)
  for (const attachment of later) addAttachment(reader, attachment)
}

/**
 * The texts of the blocks in a cell, in one line.
 *
 * @param later receives blocks that do not fit into a line; they follow the table
 */
function readCell(reader: BodyReader, cell: XmlElement, later: Attachment[]): Span[] {
  return blocksOf(cell).flatMap((block): Span[] => {
    if (block.name === 'tbl') {
      const cells = rowsOf(block).flatMap(cellsOf)
      return cells.flatMap((inner) => [...readCell(reader, inner, later), { text: ' ' }])
    }
    if (block.name === 'altChunk') {
      later.push({ type: 'part', blocks: chunkOf(reader.word, block) })
      return []
    }
    const { spans, attachments, numbered, isEmpty } = readParagraph(reader, block)
    append(
      later,
      attachments.filter((each) => each.type !== 'box'),
    )
    const boxed = attachments.flatMap((each) =>
      each.type === 'box' ? readCell(reader, each.content, later) : [],
    )
    // The number of a row is often all that its cell has.
    const own = withLabel(numbered?.label, isEmpty ? [] : spans)
    return [...own, { text: ' ' }, ...boxed]
  })
}

/** Whether the paragraph itself is deleted or hidden, so that it has no number. */
function isRemoved(properties: XmlElement | undefined): boolean {
  const mark = descend(properties, 'rPr')
  return ['del', 'moveFrom', 'vanish'].some((name) => descend(mark, name) !== undefined)
}

function labelled(label: Label | undefined, text: string): string {
  return label?.type === 'text' ? `${label.text} ${text}` : text
}

function inRole(style: ParagraphStyle | undefined, children: PhrasingContent[]): FlowBlock {
  const text = paragraph(children)
  return style?.role === 'quote' ? { type: 'blockquote', children: [text] } : text
}

/** Many documents have no heading styles, only lines in bold type. */
function promoteBoldLines(blocks: FlowBlock[]): void {
  blocks.forEach((block, at) => {
    const [only, ...rest] = block.type === 'paragraph' ? block.children : []
    if (only?.type !== 'strong' || rest.length > 0) return
    const [inner] = only.children
    const text = inner?.type === 'text' ? inner.value.trim() : ''
    if (text === '' || text.length > maxBoldHeadingLength || /[.,;:!]$/.test(text)) return
    blocks[at] = heading(2, text)
  })
}

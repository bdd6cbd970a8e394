import type { PhrasingContent, Root } from 'mdast'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import {
  createFlow,
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
import { createOmissions } from '../document/omissions.js'
import { createNumbering } from './docx-numbering.js'
import { type Attachment, createRunReader } from './docx-runs.js'
import { type Comment, readComments, readMargins, readNotes } from './docx-stories.js'
import {
  numberingOf,
  outlineLevel,
  type ParagraphStyle,
  readStyles,
  type Styles,
} from './docx-styles.js'
import { blocksOf, cellsOf, readTable, rowsOf } from './docx-tables.js'
import { createPartReader, type LinkedParts, type Relations, tellMissing } from './office-parts.js'
import { documentTitle, type OfficePackage, openOffice } from './opc.js'
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
    const margins = await readMargins({ ...word, characters }, sections)
    const root: Root = { type: 'root', children: [...margins, ...blocks] }
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
  comments: ReadonlyMap<string, Comment>
  omissions: ReturnType<typeof createOmissions>
}

async function openWord(
  office: OfficePackage,
  source: Source,
  omissions: WordDocument['omissions'],
): Promise<WordDocument> {
  const relations = await office.relations(office.main)
  tellMissing(relations, office, omissions)
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

/** What the body of a document becomes. */
interface Body {
  blocks: FlowBlock[]
  /** Properties of its sections, which name headers and footers. */
  sections: XmlElement[]
  isInField: boolean
}

function readBody(
  word: WordDocument,
  bytes: Uint8Array,
  { ignoresFields }: { ignoresFields: boolean },
): Body {
  const { relations, parts, styles, omissions } = word
  const numbering = createNumbering(word.numbering, styles.lists)
  const runs = createRunReader({
    relations,
    parts,
    characters: styles.characters,
    omissions,
    ignoresFields,
  })
  const flow = createFlow()
  const sections: XmlElement[] = []

  const readParagraph = (element: XmlElement) => {
    const properties = descend(element, 'pPr')
    const section = descend(properties, 'sectPr')
    if (section !== undefined) sections.push(section)
    const style = styles.paragraphs.get(attribute(descend(properties, 'pStyle'), 'val') ?? '')
    const { spans, attachments } = runs.read(element)
    const text = spanText(spans)
    const isEmpty = text === '' && !spans.some((span) => span.node?.type === 'image')
    if (style?.hidden === true && !isEmpty) omissions.add('hidden_text')
    const isGone = (isEmpty && isRemoved(properties)) || style?.hidden === true
    const numbered = isGone ? undefined : numbering.next(numberingOf(properties), style)
    return { properties, style, spans, attachments, text, numbered, isEmpty: isEmpty || isGone }
  }

  const addParagraph = (element: XmlElement) => {
    const read = readParagraph(element)
    const { properties, style, spans, text, numbered } = read
    const level = outlineLevel(properties) ?? style?.level
    if (read.isEmpty) {
      if (style?.role === 'code') flow.blank()
    } else if (style?.role === 'contents') return
    else if (style?.role === 'title') flow.block(heading(1, labelled(numbered?.label, text)))
    else if (level !== undefined) {
      const plain = spans.map(({ bold, italic, ...rest }) => rest)
      flow.block(heading(level, toPhrasing(withLabel(numbered?.label, plain))))
    } else if (numbered?.label !== undefined) {
      flow.item(labelledItem(numbered.label, numbered.level, spans))
    } else if (numbered !== undefined && flow.more(paragraph(toPhrasing(spans)))) {
      // It goes on with the item before it.
    } else if (style?.role === 'code') {
      flow.code(spans.map((span) => (span.node === undefined ? span.text : '\n')).join(''))
    } else flow.block(inRole(style, toPhrasing(spans)))
    read.attachments.forEach(addAttachment)
  }

  const addAttachment = (attachment: Attachment) => {
    flow.after(() => {
      switch (attachment.type) {
        case 'box':
          blocksOf(attachment.content).forEach(add)
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
          if (comment !== undefined) flow.block(paragraph(comment.text))
        }
      }
    })
  }

  /** The texts of the blocks in a cell, in one line; what does not fit into it follows the table. */
  const readCell = (cell: XmlElement, later: Attachment[]): Span[] =>
    blocksOf(cell).flatMap((block): Span[] => {
      if (block.name === 'tbl') {
        const cells = rowsOf(block).flatMap(cellsOf)
        return cells.flatMap((inner) => [...readCell(inner, later), { text: ' ' }])
      }
      if (block.name === 'altChunk') {
        later.push({ type: 'part', blocks: chunkOf(block) })
        return []
      }
      const { spans, attachments, numbered, isEmpty } = readParagraph(block)
      later.push(...attachments.filter((each) => each.type !== 'box'))
      const boxed = attachments.flatMap((each) =>
        each.type === 'box' ? readCell(each.content, later) : [],
      )
      const own = isEmpty ? [] : withLabel(numbered?.label, spans)
      return [...own, { text: ' ' }, ...boxed]
    })

  const addTable = (element: XmlElement) => {
    flow.close()
    const later: Attachment[] = []
    const read = (cell: XmlElement): PhrasingContent[] => toPhrasing(readCell(cell, later))
    const content = readTable(element, read)
    if (content.type === 'layout') {
      content.blocks.forEach(add)
      return
    }
    flow.block(content.table)
    later.forEach(addAttachment)
  }

  const chunkOf = (element: XmlElement): FlowBlock[] =>
    parts.get(attribute(element, 'id') ?? '') ?? []

  const add = (element: XmlElement) => {
    switch (element.name) {
      case 'p':
        addParagraph(element)
        return
      case 'tbl':
        addTable(element)
        return
      case 'altChunk':
        chunkOf(element).forEach(flow.block)
        return
      case 'sectPr':
        sections.push(element)
        return
      case 'subDoc': {
        const target = relations.get(attribute(element, 'id') ?? '')?.target
        omissions.add('missing_part', target === undefined ? undefined : { part: target })
      }
    }
  }
  readXml(bytes, { wanted: new Set(['p', 'tbl', 'altChunk', 'sectPr', 'subDoc']), visit: add })
  flow.close()
  return { blocks: flow.blocks, sections, isInField: runs.isInField }
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

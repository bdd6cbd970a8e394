import type { BlockContent, Code, DefinitionContent, Root } from 'mdast'
import { createRunReader } from './docx-runs.js'
import {
  type NumberingReference,
  numberingOf,
  outlineLevel,
  type ParagraphStyle,
  readNumbering,
  readStyles,
} from './docx-styles.js'
import { readTable } from './docx-table.js'
import type { Extraction, Source } from './extractor.js'
import { buildList, type ListLine } from './list-builder.js'
import { heading, paragraph } from './nodes.js'
import { documentTitle } from './office-title.js'
import { type OfficePackage, openOffice, readingAs } from './opc.js'
import { spanText, toPhrasing } from './spans.js'
import { firstHeading } from './tree.js'
import { attribute, descend, elements, readXml, type XmlElement } from './xml.js'

const WHAT = 'a Word document (.docx)'
/** A line that is bold as a whole and no longer stands for a heading where there are no real ones. */
const LONGEST_BOLD_HEADING = 120

type Block = BlockContent | DefinitionContent

/** Reads a Word document: headings, lists, tables, notes, text boxes; tracked deletions are gone. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(WHAT, async () => {
    const office = await openOffice(source, WHAT)
    const blocks = await readBody(office)
    if (!blocks.some((block) => block.type === 'heading')) promoteBoldLines(blocks)
    const root: Root = { type: 'root', children: blocks }
    const title = firstHeading(root) ?? (await documentTitle(office))
    return title === undefined ? { root } : { root, title }
  })
}

async function readBody(office: OfficePackage): Promise<Block[]> {
  const { archive, main } = office
  const styles = readStyles(await optional(office, 'styles', 'styles'))
  const counting = readNumbering(await optional(office, 'numbering', 'numbering'))
  const runs = createRunReader(await office.relations(main))
  const notes = {
    footnote: await readNotes(office, 'footnotes', 'footnote'),
    endnote: await readNotes(office, 'endnotes', 'endnote'),
  }
  const blocks: Block[] = []
  let lines: ListLine[] = []
  let code: string[] = []

  const close = () => {
    blocks.push(...buildList(lines))
    if (code.length > 0) blocks.push({ type: 'code', value: code.join('\n') } satisfies Code)
    lines = []
    code = []
  }
  const addBlock = (block: Block) => {
    close()
    blocks.push(block)
  }
  const addParagraph = (element: XmlElement) => {
    const properties = descend(element, 'pPr')
    const style = styles.get(attribute(descend(properties, 'pStyle'), 'val') ?? '')
    const { spans, boxes, notes: references } = runs.read(element)
    const text = spanText(spans)
    const level = outlineLevel(properties) ?? style?.level
    const list = numberingOf(properties) ?? style?.numbering
    if (text === '' && !spans.some((span) => span.node?.type === 'image')) {
      if (style?.role === 'code') code.push('')
    } else if (style?.role === 'contents') {
      return
    } else if (style?.role === 'title') {
      addBlock(heading(1, text))
    } else if (level !== undefined) {
      addBlock(heading(level, toPhrasing(spans.map(({ bold, italic, ...plain }) => plain))))
    } else if (list !== undefined && isListed(list, counting)) {
      if (code.length > 0) close()
      const ordered = counting(list) === 'number'
      lines.push({ level: list.level, ordered, content: paragraph(toPhrasing(spans)) })
    } else if (style?.role === 'code') {
      if (lines.length > 0) close()
      code.push(spans.map((span) => (span.node === undefined ? span.text : '\n')).join(''))
    } else {
      addBlock(inRole(style, toPhrasing(spans)))
    }
    for (const box of boxes) elements(box).forEach(add)
    for (const { kind, id, identifier } of references) {
      const note = notes[kind].get(id)
      if (note === undefined) continue
      addBlock({ type: 'footnoteDefinition', identifier, children: [paragraph(note)] })
    }
  }
  const add = (element: XmlElement) => {
    if (element.name === 'p') addParagraph(element)
    else if (element.name === 'tbl') {
      close()
      const found = readTable(element, runs)
      if (found.type === 'table') blocks.push(found.table)
      else found.blocks.forEach(add)
    } else if (element.name === 'sdt') elements(descend(element, 'sdtContent')).forEach(add)
  }
  readXml(await archive.read(main), { wanted: new Set(['p', 'tbl']), visit: add })
  close()
  return blocks
}

function isListed(list: NumberingReference, counting: ReturnType<typeof readNumbering>): boolean {
  // List 0 takes a paragraph out of the list of its style.
  return list.list !== '0' && counting(list) !== 'none'
}

function inRole(
  style: ParagraphStyle | undefined,
  children: ReturnType<typeof toPhrasing>,
): BlockContent {
  const text = paragraph(children)
  return style?.role === 'quote' ? { type: 'blockquote', children: [text] } : text
}

async function optional(
  office: OfficePackage,
  type: string,
  root: string,
): Promise<XmlElement | undefined> {
  const part = await office.related(office.main, type)
  return part === undefined ? undefined : await office.parse(part, root)
}

/** The texts of notes by their ids. */
async function readNotes(
  office: OfficePackage,
  type: string,
  name: string,
): Promise<Map<string, string>> {
  const notes = new Map<string, string>()
  const part = await office.related(office.main, type)
  if (part === undefined) return notes
  const runs = createRunReader(new Map())
  readXml(await office.archive.read(part), {
    wanted: new Set([name]),
    visit(note) {
      const texts = elements(note, 'p').map((each) => spanText(runs.read(each).spans))
      const text = texts.join(' ').trim()
      if (text !== '') notes.set(attribute(note, 'id') ?? '', text)
    },
  })
  return notes
}

/** Many documents have no heading styles, only lines in bold. */
function promoteBoldLines(blocks: Block[]): void {
  blocks.forEach((block, at) => {
    const [only, ...rest] = block.type === 'paragraph' ? block.children : []
    if (only?.type !== 'strong' || rest.length > 0) return
    const [inner] = only.children
    const text = inner?.type === 'text' ? inner.value.trim() : ''
    if (text === '' || text.length > LONGEST_BOLD_HEADING || /[.,;:!]$/.test(text)) return
    blocks[at] = heading(2, text)
  })
}

import type { BlockContent, Code, DefinitionContent, PhrasingContent, Root, Table } from 'mdast'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import {
  buildList,
  type FlatListItem,
  firstHeading,
  heading,
  paragraph,
  spanText,
  table,
  toPhrasing,
} from '../document/nodes.js'
import { createRunReader, type RunReader } from './docx-runs.js'
import { documentTitle, type OfficePackage, openOffice } from './opc.js'
import { attribute, descend, elements, findElements, readXml, type XmlElement } from './xml.js'

const formatName = 'a Word document (.docx)'
/** In a document without headings, a bold line of at most this length is one. */
const maxBoldHeadingLength = 120

type Block = BlockContent | DefinitionContent

/** Reads a Word document: headings, lists, tables, notes and text boxes, without tracked deletions. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const office = await openOffice(source, formatName)
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
  const numbering = readNumbering(await optional(office, 'numbering', 'numbering'))
  const runs = createRunReader(await office.relations(main))
  const notes = {
    footnote: await readNotes(office, 'footnotes', 'footnote'),
    endnote: await readNotes(office, 'endnotes', 'endnote'),
  }
  const blocks: Block[] = []
  let lines: FlatListItem[] = []
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
    } else if (list !== undefined && isListed(list, numbering)) {
      if (code.length > 0) close()
      const ordered = numbering(list) === 'number'
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
      const content = readTable(element, runs)
      if (content.type === 'table') blocks.push(content.table)
      else content.blocks.forEach(add)
    } else if (element.name === 'sdt') elements(descend(element, 'sdtContent')).forEach(add)
  }
  readXml(await archive.read(main), { wanted: new Set(['p', 'tbl']), visit: add })
  close()
  return blocks
}

function isListed(list: NumberingReference, numbering: ReturnType<typeof readNumbering>): boolean {
  // List 0 removes a paragraph from the list of its style.
  return list.list !== '0' && numbering(list) !== 'none'
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

/** The texts of footnotes or endnotes by id. */
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

/** Many documents have no heading styles, only lines in bold type. */
function promoteBoldLines(blocks: Block[]): void {
  blocks.forEach((block, at) => {
    const [only, ...rest] = block.type === 'paragraph' ? block.children : []
    if (only?.type !== 'strong' || rest.length > 0) return
    const [inner] = only.children
    const text = inner?.type === 'text' ? inner.value.trim() : ''
    if (text === '' || text.length > maxBoldHeadingLength || /[.,;:!]$/.test(text)) return
    blocks[at] = heading(2, text)
  })
}

/** More columns than this in one row are a mistake or an attack. */
const maxColumns = 1000

/** A table, or the blocks in one that is used for layout only. */
type TableContent = { type: 'table'; table: Table } | { type: 'layout'; blocks: XmlElement[] }

/** Reads a table: one line of text per cell. Merged cells are repeated in every row that they cover. */
function readTable(element: XmlElement, runs: RunReader): TableContent {
  const rows = rowsOf(element)
  if (rows.every((row) => cellsOf(row).length < 2)) {
    return { type: 'layout', blocks: rows.flatMap((row) => cellsOf(row).flatMap(blocksOf)) }
  }
  const read: PhrasingContent[][][] = []
  for (const row of rows) {
    const above = read.at(-1) ?? []
    const cells: PhrasingContent[][] = []
    for (const cell of cellsOf(row)) {
      const properties = descend(cell, 'tcPr')
      const isContinued = isMergedUpwards(properties)
      cells.push(isContinued ? (above[cells.length] ?? []) : toPhrasing(readCell(cell, runs)))
      const span = Number(attribute(descend(properties, 'gridSpan'), 'val') ?? 1)
      for (let extra = 1; extra < span && cells.length < maxColumns; extra += 1) cells.push([])
    }
    read.push(cells)
  }
  return { type: 'table', table: table(read) }
}

function rowsOf(parent: XmlElement): XmlElement[] {
  return unwrapped(parent, 'tr')
}

function cellsOf(row: XmlElement): XmlElement[] {
  return unwrapped(row, 'tc')
}

/** Children of one name, including those in content controls and tracked insertions. */
function unwrapped(parent: XmlElement, name: string): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === name) return [child]
    const wraps = ['sdt', 'sdtContent', 'ins', 'customXml', 'smartTag'].includes(child.name)
    return wraps ? unwrapped(child, name) : []
  })
}

function blocksOf(cell: XmlElement): XmlElement[] {
  return elements(cell).filter((child) => ['p', 'tbl', 'sdt'].includes(child.name))
}

function readCell(cell: XmlElement, runs: RunReader) {
  return findElements(cell, 'p').flatMap((paragraph, index) => {
    const { spans, boxes } = runs.read(paragraph)
    const boxed = boxes.flatMap((box) => findElements(box, 'p')).flatMap((p) => runs.read(p).spans)
    const gap = index === 0 ? [] : [{ text: ' ' }]
    return [...gap, ...spans, ...boxed]
  })
}

function isMergedUpwards(properties: XmlElement | undefined): boolean {
  const merge = descend(properties, 'vMerge')
  return merge !== undefined && attribute(merge, 'val') !== 'restart'
}

/** What a style says about its paragraphs. */
interface ParagraphStyle {
  role: 'text' | 'title' | 'quote' | 'code' | 'contents'
  /** Level of a heading, from 1. */
  level?: number
  numbering?: NumberingReference
}

/** The list that a paragraph belongs to. */
interface NumberingReference {
  /** Id of the list. */
  list: string
  /** From 0. */
  level: number
}

/** Styles that a style is based on; a loop ends here. */
const maxStyleChain = 20

/** Paragraph styles by id, with what they inherit. */
function readStyles(root: XmlElement | undefined): Map<string, ParagraphStyle> {
  const sources = new Map(
    elements(root, 'style').map((style) => [attribute(style, 'styleId') ?? '', style]),
  )
  return new Map([...sources.keys()].map((id) => [id, resolve(id, sources)]))
}

/** The list in the properties of a paragraph or a style. */
function numberingOf(properties: XmlElement | undefined): NumberingReference | undefined {
  const numbering = descend(properties, 'numPr')
  const list = attribute(descend(numbering, 'numId'), 'val')
  if (list === undefined) return undefined
  return { list, level: Number(attribute(descend(numbering, 'ilvl'), 'val') ?? 0) || 0 }
}

/** The heading level in the properties of a paragraph or a style. */
function outlineLevel(properties: XmlElement | undefined): number | undefined {
  const value = attribute(descend(properties, 'outlineLvl'), 'val')
  const level = value === undefined ? Number.NaN : Number(value)
  return level >= 0 && level < 9 ? level + 1 : undefined
}

function resolve(id: string, sources: ReadonlyMap<string, XmlElement>): ParagraphStyle {
  const chain: XmlElement[] = []
  for (let next: string | undefined = id; next !== undefined && chain.length < maxStyleChain; ) {
    const style: XmlElement | undefined = sources.get(next)
    if (style === undefined) break
    chain.push(style)
    next = attribute(descend(style, 'basedOn'), 'val')
  }
  const names = chain.map((style) => (attribute(descend(style, 'name'), 'val') ?? '').toLowerCase())
  const level =
    first(chain.map((style) => outlineLevel(descend(style, 'pPr')))) ?? first(names.map(namedLevel))
  const numbering = first(chain.map((style) => numberingOf(descend(style, 'pPr'))))
  return {
    role: first(names.map(namedRole)) ?? 'text',
    ...(level !== undefined && { level }),
    ...(numbering !== undefined && { numbering }),
  }
}

/** In the file, the names of built-in styles are English, whatever the language of the program. */
function namedLevel(name: string): number | undefined {
  const match = /^heading (\d)$/.exec(name)
  if (match !== null) return Number(match[1])
  return name === 'subtitle' ? 2 : undefined
}

function namedRole(name: string): ParagraphStyle['role'] | undefined {
  if (name === 'title') return 'title'
  if (/^toc (\d|heading)/.test(name)) return 'contents'
  if (/^(intense )?quote$|^block text$/.test(name)) return 'quote'
  if (/\bcode\b|preformatted/.test(name)) return 'code'
  return undefined
}

function first<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.find((value) => value !== undefined)
}

/** How the lists of a document are numbered, by list and level. */
function readNumbering(root: XmlElement | undefined): (list: NumberingReference) => Numbering {
  const abstracts = new Map(
    elements(root, 'abstractNum').map((each) => [attribute(each, 'abstractNumId'), each]),
  )
  const levels = new Map<string, Map<number, Numbering>>()
  for (const num of elements(root, 'num')) {
    const abstract = abstracts.get(attribute(descend(num, 'abstractNumId'), 'val'))
    levels.set(
      attribute(num, 'numId') ?? '',
      new Map(
        elements(abstract, 'lvl').map((lvl) => [Number(attribute(lvl, 'ilvl')), numbering(lvl)]),
      ),
    )
  }
  return ({ list, level }) => levels.get(list)?.get(level) ?? 'bullet'
}

/** How a level of a list marks its items; `none` means that they are no list. */
type Numbering = 'bullet' | 'number' | 'none'

function numbering(level: XmlElement): Numbering {
  const format = attribute(descend(level, 'numFmt'), 'val') ?? 'decimal'
  if (format === 'none') return 'none'
  return format === 'bullet' ? 'bullet' : 'number'
}

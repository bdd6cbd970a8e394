import type { BlockContent, PhrasingContent, Root, Table } from 'mdast'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import {
  buildList,
  type FlatListItem,
  heading,
  onPage,
  paragraph,
  plainText,
  type Span,
  spanText,
  table,
  toPhrasing,
} from '../document/nodes.js'
import { altTextOf, documentTitle, type OfficePackage, openOffice } from './opc.js'
import {
  attribute,
  descend,
  elements,
  findElements,
  prefixed,
  textContent,
  type XmlElement,
} from './xml.js'

const formatName = 'a PowerPoint presentation (.pptx)'

/** Reads a presentation: slides in their order as pages, with tables, diagrams and notes. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const office = await openOffice(source, formatName)
    const slides = await slideParts(office)
    requirePages(slides.length, source, 'slides')
    const count = createTextLimit(source)
    const root: Root = { type: 'root', children: [] }
    let stated = await documentTitle(office)
    for (const [index, part] of slides.entries()) {
      const { title, blocks } = await readSlide(office, part)
      if (index === 0) stated ??= title
      const level = index === 0 && title === stated ? 1 : 2
      const content = [heading(level, title ?? `Slide ${index + 1}`), ...blocks]
      // An empty slide needs no heading.
      if (title !== undefined || blocks.length > 0) {
        for (const block of content) {
          count(plainText(block))
          root.children.push(onPage(block, index + 1))
        }
      }
      source.onPage?.(index + 1, slides.length)
    }
    return { root, pages: slides.length, ...(stated !== undefined && { title: stated }) }
  })
}

async function slideParts(office: OfficePackage): Promise<string[]> {
  const relations = await office.relations(office.main)
  const presentation = await office.parse(office.main, 'presentation')
  return elements(descend(presentation, 'sldIdLst'), 'sldId').flatMap((slide) => {
    const target = relations.get(prefixed(slide, 'id') ?? '')?.target
    return target !== undefined && office.archive.has(target) ? [target] : []
  })
}

async function readSlide(
  office: OfficePackage,
  part: string,
): Promise<{ title: string | undefined; blocks: BlockContent[] }> {
  const relations = await office.relations(part)
  const slide = await office.parse(part, 'sld')
  const { title, blocks } = readShapes(descend(slide, 'cSld', 'spTree'), relations)
  for (const { type, target } of relations.values()) {
    if (type !== 'diagramData' || !office.archive.has(target)) continue
    blocks.push(...readDiagram(await office.parse(target, 'dataModel')))
  }
  const notes = await office.related(part, 'notesSlide')
  if (notes !== undefined) blocks.push(...readNotes(await office.parse(notes, 'notes')))
  return { title, blocks }
}

/** The notes of the speaker often say what the slide only hints at. */
function readNotes(notes: XmlElement): BlockContent[] {
  const { blocks } = readShapes(descend(notes, 'cSld', 'spTree'), new Map())
  return blocks.length === 0 ? [] : [paragraph('Notes:'), ...blocks]
}

type Relations = ReadonlyMap<string, { target: string; external: boolean }>

/** Placeholders for headers and footers, which repeat on every slide. */
const headersAndFooters: ReadonlySet<string> = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])
const titleTypes: ReadonlySet<string> = new Set(['title', 'ctrTitle'])

interface SlideContent {
  title: string | undefined
  blocks: BlockContent[]
}

/** The title and the content of a slide, in the order in which screen readers read it. */
function readShapes(tree: XmlElement | undefined, relations: Relations): SlideContent {
  const content: SlideContent = { title: undefined, blocks: [] }
  for (const shape of elements(tree)) readShape(shape, relations, content)
  return content
}

/** The texts of a diagram (SmartArt). */
function readDiagram(model: XmlElement): BlockContent[] {
  const lines = findElements(model, 'pt').flatMap((point): FlatListItem[] => {
    const text = textContent(descend(point, 't')).replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [{ level: 0, ordered: false, content: paragraph(text) }]
  })
  return buildList(lines)
}

function readShape(shape: XmlElement, relations: Relations, content: SlideContent): void {
  switch (shape.name) {
    case 'grpSp':
      for (const child of elements(shape)) readShape(child, relations, content)
      return
    case 'AlternateContent':
      for (const child of elements(descend(shape, 'Choice') ?? descend(shape, 'Fallback'))) {
        readShape(child, relations, content)
      }
      return
    case 'graphicFrame':
      for (const grid of findElements(shape, 'tbl')) content.blocks.push(readTable(grid, relations))
      return
    case 'pic': {
      const alt = altTextOf(descend(shape, 'nvPicPr', 'cNvPr'))
      if (alt !== undefined) content.blocks.push(paragraph([{ type: 'image', url: '', alt }]))
      return
    }
    case 'sp':
      readText(shape, relations, content)
  }
}

function readText(shape: XmlElement, relations: Relations, content: SlideContent): void {
  const placeholder = descend(shape, 'nvSpPr', 'nvPr', 'ph')
  const type = placeholder === undefined ? undefined : (attribute(placeholder, 'type') ?? 'obj')
  if (type !== undefined && headersAndFooters.has(type)) return
  const paragraphs = elements(descend(shape, 'txBody'), 'p')
  if (type !== undefined && titleTypes.has(type) && content.title === undefined) {
    const text = paragraphs.map((each) => spanText(readSpans(each, relations))).join(' ')
    content.title = text.trim() || undefined
    return
  }
  const lines = paragraphs.flatMap((each): FlatListItem[] => {
    const spans = readSpans(each, relations)
    if (spanText(spans) === '') return []
    const properties = descend(each, 'pPr')
    const level = Number(attribute(properties, 'lvl') ?? 0) || 0
    const ordered = descend(properties, 'buAutoNum') !== undefined
    return [{ level, ordered, content: paragraph(toPhrasing(spans)) }]
  })
  // In content placeholders, the slide master adds bullets to paragraphs; in text boxes, nothing does.
  const isList = type === 'obj' || type === 'body' || lines.some((line) => line.ordered)
  if (isList && lines.length > 1) content.blocks.push(...buildList(lines))
  else content.blocks.push(...lines.map((line) => line.content))
}

/** The text of a paragraph, including fields such as dates. */
function readSpans(paragraphElement: XmlElement, relations: Relations): Span[] {
  return elements(paragraphElement).flatMap((child): Span[] => {
    if (child.name === 'br') return [{ text: '', node: { type: 'break' } }]
    if (child.name !== 'r' && child.name !== 'fld') {
      const isMath = child.name === 'm' || child.name === 'AlternateContent'
      return isMath ? [{ text: textContent(descend(child, 'Choice') ?? child) }] : []
    }
    const properties = descend(child, 'rPr')
    const relation = relations.get(attribute(descend(properties, 'hlinkClick'), 'id') ?? '')
    return [
      {
        text: textContent(descend(child, 't')),
        ...(attribute(properties, 'b') === '1' && { bold: true }),
        ...(attribute(properties, 'i') === '1' && { italic: true }),
        ...(relation?.external === true && { url: relation.target }),
      },
    ]
  })
}

/** Reads a table. Merged cells are repeated in every row that they cover. */
function readTable(grid: XmlElement, relations: Relations): Table {
  const rows: PhrasingContent[][][] = []
  for (const row of elements(grid, 'tr')) {
    const above = rows.at(-1) ?? []
    rows.push(
      elements(row, 'tc').map((cell, column) => {
        if (attribute(cell, 'vMerge') === '1') return above[column] ?? []
        const spans = elements(descend(cell, 'txBody'), 'p').flatMap((each, index) => [
          ...(index === 0 ? [] : [{ text: ' ' }]),
          ...readSpans(each, relations),
        ])
        return toPhrasing(spans)
      }),
    )
  }
  return table(rows)
}

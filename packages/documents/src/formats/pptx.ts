import type { BlockContent, PhrasingContent, Root, Table } from 'mdast'
import { append } from '../document/append.js'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import { createFlow, type FlowBlock, labelledItem, withLabel } from '../document/flow.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import {
  commentText,
  heading,
  onPage,
  paragraph,
  plainText,
  spanText,
  table,
  toPhrasing,
} from '../document/nodes.js'
import { createOmissions, type OmissionPlace, type Omissions } from '../document/omissions.js'
import { createCellCopies, maxColumns } from './merged-cells.js'
import { createPartReader, type LinkedParts, reportMissingParts } from './office-parts.js'
import { altTextOf, documentTitle, type OfficePackage, openOffice, type Relations } from './opc.js'
import { createLayoutReader, type InheritedStyles } from './pptx-layouts.js'
import { cellSpans, isTrue, readLines, readSpans, type SlideTextContext } from './pptx-text.js'
import { unknownSymbolReporter } from './symbol-fonts.js'
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

/** Reads a presentation: slides in their order as pages, with tables, charts, diagrams, notes and comments. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const office = await openOffice(source, formatName)
    const omissions = createOmissions()
    const slides = await slideParts(office, omissions)
    requirePages(slides.length, source, 'slides')
    const count = createTextLimit(source)
    const reader = await createSlideReader(office, source, omissions)
    const root: Root = { type: 'root', children: [] }
    let stated = await documentTitle(office)
    let unread = 0
    for (const [index, part] of slides.entries()) {
      const { title, blocks, pictures } = await reader.read(part, { slide: index + 1 })
      if (index === 0) stated ??= title
      const level = index === 0 && title === stated ? 1 : 2
      const content = [heading(level, title ?? `Slide ${index + 1}`), ...blocks]
      // An empty slide needs no heading.
      if (title !== undefined || blocks.length > 0) {
        for (const block of content) {
          count(plainText(block))
          root.children.push(onPage(block, index + 1))
        }
      } else if (pictures > 0) unread += 1
      source.onPage?.(index + 1, slides.length)
    }
    return {
      root,
      pages: slides.length,
      ...(stated !== undefined && { title: stated }),
      parts: { count: slides.length, unread },
      omissions: omissions.list(),
    }
  })
}

async function slideParts(office: OfficePackage, omissions: Omissions): Promise<string[]> {
  const relations = await office.relations(office.main)
  reportMissingParts(relations, office, omissions)
  const presentation = await office.parse(office.main, 'presentation')
  const parts = elements(descend(presentation, 'sldIdLst'), 'sldId').flatMap((slide) => {
    const target = relations.get(prefixed(slide, 'id') ?? '')?.target
    return target !== undefined && office.archive.has(target) ? [target] : []
  })
  // Each slide has a part of its own; one that is listed again and again would be read as often.
  return [...new Set(parts)]
}

/** The content of a slide. */
interface SlideContent {
  title: string | undefined
  blocks: FlowBlock[]
  /** Pictures without a description. */
  pictures: number
}

async function createSlideReader(office: OfficePackage, source: Source, omissions: Omissions) {
  const parts = createPartReader({ office, source, omissions })
  const authors = await readAuthors(office)
  const layoutOf = createLayoutReader(office)
  return {
    async read(part: string, place: OmissionPlace): Promise<SlideContent> {
      const relations = await office.relations(part)
      reportMissingParts(relations, office, omissions)
      const linked = await parts.read(relations, place)
      const slide = await office.parse(part, 'sld')
      const inherited = await layoutOf(relations)
      const shapes = createShapeReader({ relations, linked, omissions, place, inherited })
      const content = shapes.read(descend(slide, 'cSld', 'spTree'))
      append(content.blocks, shapes.unshownDiagrams())
      for (const { type, target } of relations.values()) {
        if (!office.archive.has(target)) continue
        if (type === 'notesSlide')
          append(content.blocks, readNotes(await office.parse(target, 'notes')))
        else if (type === 'comments') {
          append(content.blocks, readComments(await office.parse(target, 'cmLst'), authors))
        }
      }
      return content
    },
  }
}

/** The notes of the speaker, which often explain the slide. */
function readNotes(notes: XmlElement): FlowBlock[] {
  const shapes = createShapeReader({
    relations: new Map(),
    linked: new Map(),
    omissions: createOmissions(),
    place: {},
    inherited: () => [],
  })
  const { blocks } = shapes.read(descend(notes, 'cSld', 'spTree'))
  return blocks.length === 0 ? [] : [paragraph('Notes:'), ...blocks]
}

/** Names of the lists of authors, by the types of their parts. */
const authorLists: ReadonlyMap<string, string> = new Map([
  ['commentAuthors', 'cmAuthorLst'],
  ['authors', 'authorLst'],
])

/** The names of people who comment, by their ids. */
async function readAuthors(office: OfficePackage): Promise<ReadonlyMap<string, string>> {
  const authors = new Map<string, string>()
  for (const { type, target } of (await office.relations(office.main)).values()) {
    const root = authorLists.get(type)
    if (root === undefined || !office.archive.has(target)) continue
    for (const author of elements(await office.parse(target, root))) {
      authors.set(attribute(author, 'id') ?? '', attribute(author, 'name') ?? '')
    }
  }
  return authors
}

/** Comments and the replies to them, each with its author. */
function readComments(list: XmlElement, authors: ReadonlyMap<string, string>): BlockContent[] {
  return elements(list, 'cm').flatMap((comment) =>
    [comment, ...elements(descend(comment, 'replyLst'), 'reply')].flatMap((each) => {
      const lines = elements(descend(each, 'txBody'), 'p').map(textContent)
      const text = [textContent(descend(each, 'text')), ...lines]
        .join(' ')
        .replace(/\s+/g, ' ')
        .trim()
      if (text === '') return []
      const author = authors.get(attribute(each, 'authorId') ?? '')?.trim() ?? ''
      return [paragraph(commentText(author, text))]
    }),
  )
}

/** Placeholders for headers and footers, which repeat on every slide. */
const headersAndFooters: ReadonlySet<string> = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])
const titleTypes: ReadonlySet<string> = new Set(['title', 'ctrTitle'])

/** Context of the shapes of a slide. */
interface ShapeContext {
  relations: Relations
  linked: LinkedParts
  omissions: Omissions
  place: OmissionPlace
  inherited: InheritedStyles
}

function createShapeReader({ relations, linked, omissions, place, inherited }: ShapeContext) {
  const content: SlideContent = { title: undefined, blocks: [], pictures: 0 }
  const shown = new Set<string>()
  const texts: SlideTextContext = {
    relations,
    onUnknownSymbol: unknownSymbolReporter(omissions, place),
  }
  return {
    /** The title and the content of a slide, in the order in which screen readers read it. */
    read(tree: XmlElement | undefined): SlideContent {
      for (const shape of elements(tree)) readShape(shape)
      return content
    },
    /** Diagrams that no shape refers to. */
    unshownDiagrams(): FlowBlock[] {
      return [...linked].flatMap(([id, blocks]) =>
        relations.get(id)?.type === 'diagramData' && !shown.has(id) ? blocks : [],
      )
    },
  }

  function readShape(shape: XmlElement): void {
    if (isHidden(shape)) return
    switch (shape.name) {
      case 'grpSp':
        for (const child of elements(shape)) readShape(child)
        return
      case 'AlternateContent':
        for (const child of elements(descend(shape, 'Choice') ?? descend(shape, 'Fallback'))) {
          readShape(child)
        }
        return
      case 'graphicFrame':
        readFrame(shape)
        return
      case 'pic':
        readPicture(shape, descend(shape, 'nvPicPr', 'cNvPr'))
        return
      case 'sp':
        readText(shape)
    }
  }

  function isHidden(shape: XmlElement): boolean {
    const own = elements(shape).find(({ name }) => /^nv\w+Pr$/.test(name))
    if (!isTrue(attribute(descend(own, 'cNvPr'), 'hidden'))) return false
    if (findElements(shape, 't').length > 0) omissions.add('hidden_text', place)
    return true
  }

  function readPicture(shape: XmlElement, properties: XmlElement | undefined): void {
    const alt = altTextOf(properties)
    if (alt !== undefined) {
      content.blocks.push(paragraph([{ type: 'image', url: '', alt }]))
      return
    }
    const decorative = findElements(shape, 'decorative').map((each) => attribute(each, 'val'))
    if (decorative.some(isTrue)) return
    content.pictures += 1
    omissions.add('picture_without_text', place)
  }

  /** A table, a chart, a diagram or a file. */
  function readFrame(frame: XmlElement): void {
    const grids = findElements(frame, 'tbl')
    for (const grid of grids) content.blocks.push(readTable(grid, texts))
    const ids = new Set([
      ...findElements(frame, 'chart').map((each) => prefixed(each, 'id')),
      ...findElements(frame, 'relIds').map((each) => prefixed(each, 'dm')),
      ...findElements(frame, 'oleObj').map((each) => prefixed(each, 'id')),
    ])
    let isRead = grids.length > 0
    for (const id of ids) {
      const blocks = id === undefined ? undefined : linked.get(id)
      if (id === undefined || blocks === undefined) continue
      shown.add(id)
      append(content.blocks, blocks)
      isRead ||= blocks.length > 0
    }
    const alt = altTextOf(descend(frame, 'nvGraphicFramePr', 'cNvPr'))
    if (!isRead && alt !== undefined) {
      content.blocks.push(paragraph([{ type: 'image', url: '', alt }]))
    }
  }

  function readText(shape: XmlElement): void {
    const placeholder = descend(shape, 'nvSpPr', 'nvPr', 'ph')
    const type = placeholder === undefined ? undefined : (attribute(placeholder, 'type') ?? 'obj')
    if (type !== undefined && headersAndFooters.has(type)) return
    const body = descend(shape, 'txBody')
    if (type !== undefined && titleTypes.has(type) && content.title === undefined) {
      const text = elements(body, 'p')
        .map((each) => spanText(readSpans(each, texts)))
        .join(' ')
      content.title = text.trim() || undefined
      return
    }
    const lines = readLines(body, texts, inherited(placeholder)).filter(
      ({ spans }) => spanText(spans) !== '',
    )
    // In content placeholders, the slide master adds bullets to paragraphs; in text boxes, nothing does.
    const isList = (type === 'obj' || type === 'body') && lines.length > 1
    const flow = createFlow()
    for (const { spans, level, label, isPlain } of lines) {
      const mark = label ?? (isList && !isPlain ? { type: 'bullet' as const } : undefined)
      if (mark === undefined) flow.block(paragraph(toPhrasing(spans)))
      else if (mark.type === 'bullet' && lines.length === 1) {
        flow.block(paragraph(toPhrasing(withLabel(mark, spans))))
      } else flow.item(labelledItem(mark, level, spans))
    }
    flow.close()
    append(content.blocks, flow.blocks)
  }
}

/** Reads a table. Merged cells are repeated in every row and column that they cover. */
function readTable(grid: XmlElement, texts: SlideTextContext): Table {
  const copies = createCellCopies()
  const columns = elements(descend(grid, 'tblGrid'), 'gridCol').length
  const rows: PhrasingContent[][][] = []
  for (const row of elements(grid, 'tr')) {
    const above = rows.at(-1) ?? []
    const cells: PhrasingContent[][] = []
    const stated = elements(row, 'tc').slice(0, maxColumns)
    // Covered cells are in the file, but some programs leave them out.
    const isShort = stated.length < columns
    for (const cell of stated) {
      if (isTrue(attribute(cell, 'vMerge'))) cells.push(copies.copy(above[cells.length] ?? []))
      else if (isTrue(attribute(cell, 'hMerge'))) cells.push(copies.copy(cells.at(-1) ?? []))
      else {
        const span = isShort ? Number(attribute(cell, 'gridSpan') ?? 1) : 1
        copies.add(cells, toPhrasing(cellSpans(descend(cell, 'txBody'), texts)), span)
      }
    }
    rows.push(cells)
  }
  return table(rows)
}

import type { BlockContent, Root } from 'mdast'
import type { Extraction, Source } from './extractor.js'
import { heading, onPage, paragraph } from './nodes.js'
import { documentTitle } from './office-title.js'
import { type OfficePackage, openOffice, readingAs } from './opc.js'
import { createTextLimit, requirePages } from './page-limit.js'
import { readDiagram, readShapes } from './pptx-shapes.js'
import { plainText } from './tree.js'
import { descend, elements, prefixed, type XmlElement } from './xml.js'

const WHAT = 'a PowerPoint presentation (.pptx)'

/** Reads a presentation: slides in their order as pages, with tables, diagrams and notes. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(WHAT, async () => {
    const office = await openOffice(source, WHAT)
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
      // A slide without anything on it needs no name either.
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

/** What the speaker says is often what the slide only hints at. */
function readNotes(notes: XmlElement): BlockContent[] {
  const { blocks } = readShapes(descend(notes, 'cSld', 'spTree'), new Map())
  return blocks.length === 0 ? [] : [paragraph('Notes:'), ...blocks]
}

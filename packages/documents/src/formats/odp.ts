import type { Root } from 'mdast'
import { append } from '../document/append.js'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import type { FlowBlock } from '../document/flow.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import { heading, onPage, paragraph, plainText } from '../document/nodes.js'
import { createOmissions } from '../document/omissions.js'
import { createOdtBody } from './odt-body.js'
import { readObjects } from './odt-objects.js'
import { openOpenDocument, statedTitle, styleElements } from './odt-package.js'
import { createOdtStyles } from './odt-styles.js'
import type { OdtTextContext } from './odt-text.js'
import { attribute, elements, findElements, readXml, type XmlElement } from './xml.js'

const formatName = 'OpenDocument slides (.odp)'
/** Frames for headers and footers, which repeat on every slide. */
const headersAndFooters: ReadonlySet<string> = new Set(
  'header footer date-time page-number'.split(' '),
)

/** Reads OpenDocument slides: in their order as pages, with titles, lists, tables, charts, notes and comments. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const archive = await openOpenDocument(source, formatName)
    const omissions = createOmissions()
    const styles = createOdtStyles()
    const objects = await readObjects(archive, omissions)
    const read = (bytes: Uint8Array, visit: (page: XmlElement) => void) => {
      readXml(bytes, {
        wanted: new Set([...styleElements, 'page', 'forms']),
        visit(element) {
          if (styleElements.includes(element.name)) styles.add(element)
          else if (element.name === 'page') visit(element)
        },
      })
    }
    // The named styles only: the slides of this part are those that others are made from.
    if (archive.has('styles.xml')) read(await archive.read('styles.xml'), () => {})
    const slides: Slide[] = []
    read(await archive.read('content.xml'), (page) => {
      const place = { slide: slides.length + 1 }
      requirePages(place.slide, source, 'slides')
      slides.push(readSlide(page, { styles, objects, omissions, place }))
    })
    const title = (await statedTitle(archive)) ?? slides[0]?.title
    return {
      root: toRoot(slides, title, source),
      pages: slides.length,
      ...(title !== undefined && { title }),
      parts: { count: slides.length, unread: slides.filter(isUnread).length },
      omissions: omissions.list(),
    }
  })
}

interface Slide {
  title: string | undefined
  blocks: FlowBlock[]
  hasPictures: boolean
}

function isUnread({ title, blocks, hasPictures }: Slide): boolean {
  return hasPictures && title === undefined && blocks.length === 0
}

function toRoot(slides: readonly Slide[], stated: string | undefined, source: Source): Root {
  const root: Root = { type: 'root', children: [] }
  const count = createTextLimit(source)
  slides.forEach(({ title, blocks }, index) => {
    const level = index === 0 && title === stated ? 1 : 2
    // An empty slide needs no heading.
    if (title === undefined && blocks.length === 0) return
    for (const block of [heading(level, title ?? `Slide ${index + 1}`), ...blocks]) {
      count(plainText(block))
      root.children.push(onPage(block, index + 1))
    }
    source.onPage?.(index + 1, slides.length)
  })
  return root
}

function readSlide(page: XmlElement, context: OdtTextContext): Slide {
  const body = createOdtBody(context)
  let title: string | undefined
  const notes: XmlElement[] = []
  for (const shape of elements(page)) {
    const kind = attribute(shape, 'class')
    if (shape.name === 'notes') append(notes, elements(shape))
    else if (kind === 'title' && title === undefined) title = titleOf(shape)
    // A comment stands on the slide as if in a paragraph.
    else if (shape.name === 'annotation') body.add({ name: 'p', attributes: {}, children: [shape] })
    else if (kind === undefined || !headersAndFooters.has(kind)) body.add(shape)
  }
  const noted = createOdtBody(context)
  const isNote = (shape: XmlElement) => attribute(shape, 'class') === 'notes'
  notes.filter(isNote).forEach(noted.add)
  const written = noted.end()
  return {
    title,
    hasPictures: findElements(page, 'image').length > 0,
    blocks: [...body.end(), ...(written.length === 0 ? [] : [paragraph('Notes:'), ...written])],
  }
}

function titleOf(shape: XmlElement): string | undefined {
  const lines = findElements(shape, 'p').map((each) => lineOf(each))
  const text = lines.join(' ').replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : text
}

/** The text of a line of a title, in which breaks and tabs are elements. */
function lineOf(element: XmlElement): string {
  return element.children
    .map((child) => {
      if (typeof child === 'string') return child
      return ['line-break', 'tab', 's'].includes(child.name) ? ' ' : lineOf(child)
    })
    .join('')
}

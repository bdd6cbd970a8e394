import type { BlockContent, DefinitionContent, Root } from 'mdast'
import { openArchive } from './archive.js'
import { damaged, passwordProtected } from './damaged.js'
import type { Extraction, Source } from './extractor.js'
import { heading, paragraph } from './nodes.js'
import { readList, readTable } from './odt-blocks.js'
import { readInline } from './odt-inline.js'
import { toTitle } from './office-title.js'
import { readingAs } from './opc.js'
import { spanText, toPhrasing } from './spans.js'
import { firstHeading } from './tree.js'
import {
  attribute,
  elements,
  findElements,
  parseXml,
  readXml,
  textContent,
  type XmlElement,
} from './xml.js'

const WHAT = 'an OpenDocument text (.odt)'

/** Visited as a whole: `tracked-changes` and the indexes only to be left out. */
const PARTS: ReadonlySet<string> = new Set(
  'p h list table tracked-changes table-of-content alphabetical-index illustration-index table-index object-index user-index bibliography style forms'.split(
    ' ',
  ),
)

type Block = BlockContent | DefinitionContent

/** Reads an OpenDocument text: headings, lists, tables, notes and text boxes. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(WHAT, async () => {
    const archive = await openArchive(source, WHAT)
    if (!archive.has('content.xml')) throw damaged(WHAT, new Error('its content is missing'))
    if (await isEncrypted(archive)) throw passwordProtected(WHAT)
    const root: Root = { type: 'root', children: [] }
    const parents = new Map<string, string>()
    readXml(await archive.read('content.xml'), {
      wanted: PARTS,
      visit(element) {
        if (element.name === 'style') {
          const parent = attribute(element, 'parent-style-name')
          if (parent !== undefined) parents.set(attribute(element, 'name') ?? '', parent)
        } else root.children.push(...readPart(element, parents))
      },
    })
    const meta = archive.has('meta.xml')
      ? parseXml(await archive.read('meta.xml'), 'meta')
      : undefined
    const stated = meta && findElements(meta, 'title')[0]
    const title = firstHeading(root) ?? toTitle(textContent(stated))
    return title === undefined ? { root } : { root, title }
  })
}

function readPart(element: XmlElement, parents: ReadonlyMap<string, string>): Block[] {
  switch (element.name) {
    case 'p':
    case 'h':
      return readParagraph(element, parents)
    case 'list':
      return readList(element)
    case 'table':
      return readTable(element, (inner) => readPart(inner, parents))
    default:
      return []
  }
}

function readParagraph(element: XmlElement, parents: ReadonlyMap<string, string>): Block[] {
  const { spans, boxes, notes } = readInline(element)
  const blocks: Block[] = []
  if (spanText(spans) !== '' || spans.some((span) => span.node?.type === 'image')) {
    blocks.push(toBlock(element, toPhrasing(spans), parents))
  }
  for (const box of boxes) {
    for (const inner of elements(box)) blocks.push(...readPart(inner, parents))
  }
  for (const { identifier, text } of notes) {
    blocks.push({ type: 'footnoteDefinition', identifier, children: [paragraph(text)] })
  }
  return blocks
}

function toBlock(
  element: XmlElement,
  children: ReturnType<typeof toPhrasing>,
  parents: ReadonlyMap<string, string>,
): Block {
  if (element.name === 'h') {
    return heading(Number(attribute(element, 'outline-level') ?? 1) || 1, children)
  }
  const own = attribute(element, 'style-name') ?? ''
  // Styles that a paragraph got by hand are called P1, P2 and so on, and stand on a named one.
  switch (parents.get(own) ?? own) {
    case 'Title':
      return heading(1, children)
    case 'Subtitle':
      return heading(2, children)
    case 'Quotations':
      return { type: 'blockquote', children: [paragraph(children)] }
    case 'Preformatted_20_Text':
      return { type: 'code', value: spanText(readInline(element).spans) }
    default:
      return paragraph(children)
  }
}

async function isEncrypted(archive: Awaited<ReturnType<typeof openArchive>>): Promise<boolean> {
  if (!archive.has('META-INF/manifest.xml')) return false
  const manifest = parseXml(await archive.read('META-INF/manifest.xml'), 'manifest')
  return findElements(manifest, 'encryption-data').length > 0
}

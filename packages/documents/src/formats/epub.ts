import type { Root, RootContent } from 'mdast'
import { type Extraction, ExtractionError, readingAs, type Source } from '../document/extraction.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import { heading, markTitle, plainText, toTitle } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { type Archive, openArchive } from './archive.js'
import { createDecoder, type Decoder } from './decode.js'
import { chapterToMdast, decodePage } from './html.js'
import { type RaisedClasses, raisedClasses } from './main-content.js'
import { openParts, resolvePart } from './opc.js'
import {
  attribute,
  descend,
  elements,
  findElements,
  parseXml,
  textContent,
  type XmlElement,
} from './xml.js'

const formatName = 'an e-book (.epub)'
const fontObfuscation = /idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC/

/** Reads an e-book: its chapters in reading order, without its table of contents. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    // Books that were made on Windows refer to their chapters in other letters, as nobody notices there.
    const archive = openParts(await openArchive(source, formatName))
    await requireReadableBook(archive)
    const container = parseXml(await archive.read('META-INF/container.xml'), 'container')
    const name = attribute(findElements(container, 'rootfile')[0], 'full-path') ?? ''
    const book = parseXml(await archive.read(name), 'package')
    const chapters = chapterParts(book, name)
    requirePages(chapters.length, source, 'chapters')
    const [first] = chapters
    if (first !== undefined && !chapters.some(({ part }) => archive.has(part))) {
      throw new Error(`the part ${first.part} is missing, as are all other chapters`)
    }
    const names = await chapterNames(archive, book, name)
    const count = createTextLimit(source)
    const omissions = createOmissions()
    const decode = createDecoder()
    const styled = await readStyles(archive, book, name)
    const root: Root = { type: 'root', children: [] }
    let unread = 0
    for (const [index, chapter] of chapters.entries()) {
      const children = await readChapter(archive, chapter, { omissions, decode, styled })
      if (children === undefined) unread += 1
      const known = names.get(chapter.part)
      // In some books, headings are pictures or plain paragraphs.
      if (known !== undefined && children?.some(({ type }) => type === 'heading') === false) {
        root.children.push(heading(2, known))
      }
      for (const node of children ?? []) {
        count(plainText(node))
        root.children.push(node)
      }
      source.onPage?.(index + 1, chapters.length)
    }
    const title = markTitle(root, toTitle(textContent(descend(book, 'metadata', 'title'))))
    return {
      root,
      ...(title !== undefined && { title }),
      omissions: omissions.list(),
      parts: { count: chapters.length, unread },
    }
  })
}

interface Chapter {
  /** Name of its part in the archive. */
  part: string
  mediaType: string
}

/** The content of a chapter; undefined if none of it can be read. */
async function readChapter(
  archive: Archive,
  { part, mediaType }: Chapter,
  { omissions, decode, styled }: { omissions: Omissions; decode: Decoder; styled: RaisedClasses },
): Promise<RootContent[] | undefined> {
  const place = { part }
  if (!archive.has(part)) {
    omissions.add('missing_part', place)
    return undefined
  }
  if (!isReadable(mediaType)) {
    if (/^image\//.test(mediaType)) omissions.add('picture_without_text', place)
    else omissions.add('unknown_part', place, { detail: mediaType })
    return undefined
  }
  const pictures = createOmissions()
  const page = decodePage(await archive.read(part), decode)
  const children = chapterToMdast(page, pictures, place, styled)
  const found = pictures.list()
  for (const { kind, count } of found) omissions.add(kind, place, { count })
  // A page that is only a picture, as in a book that was scanned.
  return found.length > 0 && children.every((node) => plainText(node).trim() === '')
    ? undefined
    : children
}

/** Style sheets of a book that are read, and the bytes of the longest: those of programs have a few thousand. */
const maxStyles = 20
const maxStyleLength = 1_000_000

/** Classes by which the style sheets of a book raise or lower text, such as numbers of notes. */
async function readStyles(
  archive: Archive,
  book: XmlElement,
  name: string,
): Promise<RaisedClasses> {
  const items = elements(descend(book, 'manifest'), 'item')
  const parts = items
    .filter((item) => attribute(item, 'media-type') === 'text/css')
    .map((item) => partOf(name, item))
    .filter((part) => archive.has(part))
  const texts: string[] = []
  for (const part of parts.slice(0, maxStyles)) {
    const bytes = await archive.read(part)
    if (bytes.length <= maxStyleLength) texts.push(Buffer.from(bytes).toString('latin1'))
  }
  return raisedClasses(texts.join('\n'))
}

function isReadable(mediaType: string): boolean {
  return /html/.test(mediaType) || mediaType === 'image/svg+xml'
}

/** Chapters in the order of the spine, without the navigation document, which repeats their names. */
function chapterParts(book: XmlElement, name: string): Chapter[] {
  const items = new Map(
    elements(descend(book, 'manifest'), 'item').map((item) => [attribute(item, 'id'), item]),
  )
  const chapters = new Map<string, Chapter>()
  for (const reference of elements(descend(book, 'spine'), 'itemref')) {
    const item = readableItem(items, attribute(reference, 'idref'))
    const isNavigation = /\bnav\b/.test(attribute(item, 'properties') ?? '')
    if (item === undefined || isNavigation) continue
    const part = partOf(name, item)
    // The standard lets a book list each chapter once: one that is listed again and again would be read as often.
    if (!chapters.has(part)) {
      chapters.set(part, { part, mediaType: attribute(item, 'media-type') ?? '' })
    }
  }
  return [...chapters.values()]
}

/** Length of a chain of fallbacks. */
const maxFallbacks = 8

/** An item of the book, or the one that its author gives for programs that cannot read it. */
function readableItem(
  items: ReadonlyMap<string | undefined, XmlElement>,
  id: string | undefined,
): XmlElement | undefined {
  const stated = items.get(id)
  let item = stated
  for (let steps = 0; item !== undefined && steps < maxFallbacks; steps += 1) {
    if (isReadable(attribute(item, 'media-type') ?? '')) return item
    item = items.get(attribute(item, 'fallback') ?? '')
  }
  return stated
}

/** Names of the chapters in the table of contents. Of several entries for one chapter, the first. */
async function chapterNames(
  archive: Archive,
  book: XmlElement,
  name: string,
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const items = elements(descend(book, 'manifest'), 'item')
  const index = items.find((item) => /dtbncx/.test(attribute(item, 'media-type') ?? ''))
  const part = index && partOf(name, index)
  if (part === undefined || !archive.has(part)) return names
  const points = allElements(parseXml(await archive.read(part), 'navMap'), 'navPoint')
  for (const point of points) {
    const target = attribute(descend(point, 'content'), 'src')?.split('#')[0] ?? ''
    const label = textContent(descend(point, 'navLabel', 'text'))
      .replace(/\s+/g, ' ')
      .trim()
    const chapter = resolvePart(part, decodeName(target))
    if (label !== '' && !names.has(chapter)) names.set(chapter, label)
  }
  return names
}

function allElements(parent: XmlElement, name: string): XmlElement[] {
  return findElements(parent, name).flatMap((found) => [found, ...allElements(found, name)])
}

function partOf(name: string, item: XmlElement): string {
  return resolvePart(name, decodeName(attribute(item, 'href') ?? ''))
}

/** Names in the package document are percent-encoded, names in the archive are not. */
function decodeName(href: string): string {
  try {
    return decodeURIComponent(href)
  } catch {
    return href
  }
}

/** Fonts may be obfuscated; the text must not be encrypted. */
async function requireReadableBook(archive: Archive): Promise<void> {
  if (!archive.has('META-INF/encryption.xml')) return
  const encryption = parseXml(await archive.read('META-INF/encryption.xml'), 'encryption')
  const methods = allElements(encryption, 'EncryptionMethod')
  if (methods.every((each) => fontObfuscation.test(attribute(each, 'Algorithm') ?? ''))) return
  throw new ExtractionError(
    'protected',
    'The e-book is encrypted by its shop (DRM), so its text cannot be read. Upload an edition without copy protection.',
  )
}

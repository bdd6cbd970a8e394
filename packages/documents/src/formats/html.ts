import { extname } from 'node:path'
import type { BlockContent, PhrasingContent, Root } from 'mdast'
import type { Extraction, Source } from '../document/extraction.js'
import { requireReadable } from '../document/limits.js'
import { markTitle, paragraph } from '../document/nodes.js'
import { createOmissions, type OmissionPlace, type Omissions } from '../document/omissions.js'
import { type Decoder, decodeSource } from './decode.js'
import { latin1 } from './encodings.js'
import { createPageContext, toBlocks, toLine } from './html-nodes.js'
import {
  find,
  isElement,
  lineOf,
  parseHtml,
  parseHtmlFragment,
  parseWellFormed,
  parseXhtml,
  withoutXmlSyntax,
} from './html-tree.js'
import { mainContent, type RaisedClasses, wholeContent } from './main-content.js'
import type { XmlElement } from './xml.js'

/** Maximum ratio of the length of a page to its text: tags, attributes and scripts. */
const maxMarkupRatio = 8
/** Bytes in which browsers look for the declaration of a charset. */
const charsetHeadBytes = 1024
const metaCharset = /<(?:meta\s[^>]*charset|\?xml\s[^>]*encoding)\s*=\s*["']?\s*([\w.:-]+)/i

/** Reads a page of HTML or XHTML: its main content, with `<title>` or else the first heading as title. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeSource(source, declaredCharset(source.bytes))
  const omissions = createOmissions()
  const page = parsePage(requireReadable(text, source, maxMarkupRatio), source, omissions)
  const root = toRoot(page, omissions)
  const description = drawingText(page, 'desc')
  if (description !== undefined) root.children.unshift(paragraph(description))
  const title = markTitle(root, statedTitle(page) ?? drawingText(page, 'title'))
  return { root, ...(title !== undefined && { title }), omissions: omissions.list() }
}

/** Decodes a page inside another document, which has no media type of its own. */
export function decodePage(bytes: Uint8Array, decode: Decoder): string {
  return decode(bytes, declaredCharset(bytes))
}

/** The main content of a page inside another document. */
export function pageToMdast(html: string, omissions: Omissions = createOmissions()): Root {
  return toRoot(parseHtml(html), omissions)
}

/** The content of a chapter of a book, which is XML and has no navigation around it. */
export function chapterToMdast(
  text: string,
  omissions: Omissions,
  place: OmissionPlace,
  styled?: RaisedClasses,
): BlockContent[] {
  return toBlocks(
    wholeContent(parseXhtml(text, { omissions, place }), styled),
    createPageContext(omissions, place),
  )
}

/** The content of HTML inside a document of another format. */
export function fragmentToMdast(html: string, omissions: Omissions): BlockContent[] {
  const fragment = wholeContent(parseHtmlFragment(withoutXmlSyntax(html)))
  return toBlocks(fragment, createPageContext(omissions))
}

/** The same in a line, such as a paragraph of Markdown. */
export function fragmentToPhrases(html: string, omissions: Omissions): PhrasingContent[] {
  const fragment = wholeContent(parseHtmlFragment(withoutXmlSyntax(html)))
  return toLine(fragment, createPageContext(omissions))
}

/** The beginning of a page that is XML. */
const xmlDeclaration = /^\s*<\?xml\s/
const xmlRoot = /<html\b[^>]{0,2000}\sxmlns\s*=/i
/** Characters in which the root of a page is expected. */
const headLength = 4096

/** Parses a page by the syntax that its name, its type or its beginning state. */
function parsePage(text: string, { contentType, key }: Source, omissions: Omissions): XmlElement {
  const isXml =
    /^(?:application\/xhtml|image\/svg)\+xml\b/i.test(contentType.trim()) ||
    /^\.(?:xht(?:ml)?|svg)$/i.test(extname(key))
  if (isXml || xmlDeclaration.test(text)) return parseXhtml(text, { omissions })
  // Most pages that name the namespace of XHTML are HTML for browsers, but mean the same if they are well-formed.
  const mayBeXml = xmlRoot.test(text.slice(0, headLength))
  return (mayBeXml ? parseWellFormed(text, { omissions }) : undefined) ?? parseHtml(text)
}

/** The `<title>` of the head: drawings in the page have titles too. */
function statedTitle(page: XmlElement): string | undefined {
  const head = find(page, ({ name }) => name === 'head')
  const title = head && find(head, ({ name }) => name === 'title')
  const text = title === undefined ? '' : lineOf(title)
  return text === '' ? undefined : text
}

/** A text about a file that is one drawing (SVG). */
function drawingText(page: XmlElement, name: 'title' | 'desc'): string | undefined {
  const drawing = page.children.find((child) => isElement(child, 'svg'))
  const found = isElement(drawing) && drawing.children.find((child) => isElement(child, name))
  const text = found ? lineOf(found) : ''
  return text === '' ? undefined : text
}

/** The charset that a page declares itself. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  return metaCharset.exec(latin1(bytes.subarray(0, charsetHeadBytes)))?.[1]
}

function toRoot(page: XmlElement, omissions: Omissions): Root {
  return { type: 'root', children: toBlocks(mainContent(page), createPageContext(omissions)) }
}

import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, parseFragment } from 'parse5'
import { SaxesParser } from 'saxes'
import { ExtractionError } from '../document/extraction.js'
import { requirePieces } from '../document/limits.js'
import type { OmissionKind, OmissionPlace, Omissions } from '../document/omissions.js'
import type { XmlElement } from './xml.js'

/** A node of a page: an element or a text. Names are local and in lower case in both syntaxes of pages. */
export type PageNode = XmlElement | string

/** The omissions that receive what is not read, and the place that is named for it. */
interface Report {
  omissions: Omissions
  place?: OmissionPlace
}

/** As in browsers. The functions that walk the tree are recursive and would run out of stack far deeper. */
const maxDepth = 512
const noAttributes: Readonly<Record<string, string>> = {}

/**
 * Parses a page as browsers parse HTML.
 *
 * @throws ExtractionError if elements are nested deeper than any browser shows them
 */
export function parseHtml(html: string): XmlElement {
  return toRoot(parse(html, { treeAdapter: guardedAdapter(), scriptingEnabled: false }))
}

/** Parses the content of a body, such as HTML in a Markdown document. */
export function parseHtmlFragment(html: string): XmlElement {
  return toRoot(parseFragment(html, { treeAdapter: guardedAdapter(), scriptingEnabled: false }))
}

/**
 * Parses a page that is XML, where every element may be closed by its own tag, such as `<script/>`. A page that is not
 * well-formed is parsed as HTML in which such tags close their elements, as their author meant.
 *
 * @param report learns the names in the text that stand for nothing, or for too much text
 * @throws ExtractionError if elements are nested deeper than any browser shows them
 */
export function parseXhtml(text: string, report?: Report): XmlElement {
  const page = parseWellFormed(text, report)
  if (page !== undefined) return page
  reportEntities(entitiesOf(text), report)
  return parseHtml(withoutXmlSyntax(withoutDeclarations(text)))
}

/**
 * A page as XML; undefined if it is not well-formed.
 *
 * @param options.keepsCase whether names of elements stay as they are written, as in documents of other kinds
 */
export function parseWellFormed(
  text: string,
  report?: Report,
  { keepsCase = false } = {},
): XmlElement | undefined {
  const parser = new SaxesParser({ xmlns: false, position: false })
  const entities = entitiesOf(text)
  Object.assign(parser.ENTITIES, entities.texts)
  const root: XmlElement = { name: '#root', attributes: noAttributes, children: [] }
  const open: XmlElement[] = [root]
  let count = 0
  parser.on('opentag', (tag) => {
    if (open.length > maxDepth) throw tooDeep()
    count += 1
    requirePieces(count, 'elements')
    const name = keepsCase ? tag.name.slice(tag.name.indexOf(':') + 1) : localName(tag.name)
    const element = { name, attributes: tag.attributes, children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => {
    open.pop()
  })
  const addText = (value: string) => {
    open.at(-1)?.children.push(value)
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('error', (error) => {
    throw error
  })
  try {
    // In pieces: the parser copies its input.
    const step = 65_536
    const page = text.trimStart()
    for (let at = 0; at < page.length; at += step) parser.write(page.slice(at, at + step))
    parser.close()
    reportEntities(entities, report)
    return root
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    return undefined
  }
}

function reportEntities({ unknown, tooLong }: Entities, report: Report | undefined): void {
  const add = (kind: OmissionKind, names: readonly string[]) => {
    const [first] = names
    if (first === undefined) return
    report?.omissions.add(kind, report.place, { count: names.length, detail: `&${first};` })
  }
  add('missing_part', unknown)
  add('text_cut', tooLong)
}

/** The texts that the names of a page such as `&nbsp;` stand for, and the names without one. */
interface Entities {
  texts: Record<string, string>
  /** Names that nothing declares in the page itself. */
  unknown: string[]
  /** Names that stand for too much text. */
  tooLong: string[]
}

/** Finds the texts of the names in a page: XML itself knows only five of them, and a page may declare others. */
function entitiesOf(text: string): Entities {
  const head = text.slice(0, maxHead)
  const body = head.replace(internalSubset, '') + text.slice(maxHead)
  const references = [...new Set(body.match(/&[A-Za-z_][\w.-]{0,40};/g))]
  // All at once: a parser for each would take long if a page names parts that do not exist.
  const decoded = textOf(parseHtmlFragment(references.join(separator))).split(separator)
  const texts: Record<string, string> = {}
  const unknown: string[] = []
  const tooLong: string[] = []
  const own = ownTexts(text)
  references.forEach((reference, at) => {
    const name = reference.slice(1, -1)
    const declared = own.get(name)
    const character = declared?.text ?? decoded[at] ?? ''
    if (declared !== undefined && declared.text === undefined) tooLong.push(name)
    else if (character === reference) unknown.push(name)
    // What stands for nothing is text, so that the rest of the page is still XML.
    texts[name] = character
  })
  return { texts, unknown, tooLong }
}

/** Separates characters that are looked up; no name stands for it. */
const separator = '\ue000'
/** A name that the page itself declares for a text. */
const declaration =
  /<!ENTITY\s+([A-Za-z_][\w.-]{0,40})\s+(?:"([^"<%]{0,200})"|'([^'<%]{0,200})')\s*>/g
const reference = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([A-Za-z_][\w.-]{0,40}));/gi
/** Characters of the declarations of a page. */
const maxDeclarations = 20_000
const maxHead = maxDeclarations + 1000
/** Characters that one of these names may stand for, and all of them together. */
const maxReplacement = 10_000
const maxReplaced = 1_000_000

/** The texts that a page declares names for; undefined for names that would make it much longer. */
function ownTexts(page: string): Map<string, { text: string | undefined }> {
  const sources = new Map<string, string>()
  // Of several declarations for a name, the first counts.
  for (const [, name = '', double, single] of page.slice(0, maxDeclarations).matchAll(declaration))
    if (!sources.has(name)) sources.set(name, double ?? single ?? '')
  const texts = new Map<string, { text: string | undefined }>()
  if (sources.size === 0) return texts
  for (const name of sources.keys()) texts.set(name, { text: expand(name, sources, texts) })
  let size = 0
  for (const [, , , name = ''] of page.matchAll(reference)) {
    size += texts.get(name)?.text?.length ?? 0
  }
  if (size > maxReplaced) for (const name of texts.keys()) texts.set(name, { text: undefined })
  return texts
}

/** The text of a declared name, with the texts of the names in it; undefined if it is too long or contains itself. */
function expand(
  name: string,
  sources: ReadonlyMap<string, string>,
  known: Map<string, { text: string | undefined }>,
): string | undefined {
  const before = known.get(name)
  if (before !== undefined) return before.text
  // Until it is known, it contains itself.
  known.set(name, { text: undefined })
  let isWhole = true
  let size = 0
  const text = (sources.get(name) ?? '').replace(reference, (whole, decimal, hex, inner) => {
    const isOwn = decimal === undefined && hex === undefined && sources.has(inner)
    const value = isOwn ? expand(inner, sources, known) : textOf(parseHtmlFragment(whole))
    size += value?.length ?? 0
    isWhole &&= value !== undefined && size <= maxReplacement
    return isWhole ? (value ?? '') : ''
  })
  known.set(name, { text: isWhole ? text : undefined })
  return isWhole ? text : undefined
}

/** The declarations at the beginning of a page, which a parser of HTML would take for text. */
const internalSubset =
  /<!DOCTYPE\s[^<>[\]"']{0,200}(?:(?:"[^"]*"|'[^']*')\s*){0,2}\[[^\]]{0,20000}\]\s*>/i

/** A page that is not well-formed, as HTML: without its declarations, and with the texts of the names that it declares. */
function withoutDeclarations(text: string): string {
  const head = text.slice(0, maxHead)
  if (!internalSubset.test(head)) return text
  const own = ownTexts(text)
  const body = text.replace(internalSubset, '<!DOCTYPE html>')
  return body.replace(/&([A-Za-z_][\w.-]{0,40});/g, (whole, name: string) => {
    const value = own.get(name)?.text
    return value === undefined ? whole : value.replaceAll('&', '&amp;')
  })
}

/** An element that ends with its own tag. */
const closedTag = /<([a-z][\w:.-]*)((?:"[^"]*"|'[^']*'|[^'"<>])*?)\/>/gi
const voidElements: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
)
/** HTML with the meaning of XML: `<a id="x"/>` is empty, and `<![CDATA[a < b]]>` is text. */
export function withoutXmlSyntax(text: string): string {
  return withoutSections(text).replace(closedTag, (tag, name: string, rest: string) =>
    voidElements.has(name.toLowerCase()) ? tag : `<${name}${rest}></${name}>`,
  )
}

const sectionStart = '<![CDATA['
const sectionEnd = ']]>'

/** Not by a regular expression, which would search for the end of each section that has none. */
function withoutSections(text: string): string {
  const parts: string[] = []
  let from = 0
  for (;;) {
    const start = text.indexOf(sectionStart, from)
    const end = start === -1 ? -1 : text.indexOf(sectionEnd, start)
    if (end === -1) return parts.length === 0 ? text : [...parts, text.slice(from)].join('')
    const value = text.slice(start + sectionStart.length, end)
    parts.push(text.slice(from, start), value.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
    from = end + sectionEnd.length
  }
}

function toRoot(
  tree: DefaultTreeAdapterTypes.Document | DefaultTreeAdapterTypes.DocumentFragment,
): XmlElement {
  return { name: '#root', attributes: noAttributes, children: toNodes(tree.childNodes) }
}

function toNodes(nodes: readonly DefaultTreeAdapterTypes.ChildNode[]): PageNode[] {
  const found: PageNode[] = []
  for (const node of nodes) {
    if ('tagName' in node) found.push(toElement(node))
    else if (node.nodeName === '#text' && 'value' in node) found.push(node.value)
  }
  return found
}

function toElement(node: DefaultTreeAdapterTypes.Element): XmlElement {
  const attributes: Record<string, string> = {}
  for (const { name, prefix, value } of node.attrs) {
    attributes[prefix ? `${prefix}:${name}` : name] = value
  }
  // The content of a template is shown where it is only if it belongs to the element around it.
  const isShown = 'content' in node && attributes.shadowrootmode !== undefined
  const children = isShown && 'content' in node ? contentOf(node) : node.childNodes
  return {
    name: isShown ? 'div' : localName(node.tagName),
    attributes: node.attrs.length === 0 ? noAttributes : attributes,
    children: toNodes(children),
  }
}

function contentOf(node: DefaultTreeAdapterTypes.Element): DefaultTreeAdapterTypes.ChildNode[] {
  return 'content' in node ? (node as DefaultTreeAdapterTypes.Template).content.childNodes : []
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase()
}

/**
 * Checks the depth and the number of elements while parsing: the time of the parser grows with the square of the depth,
 * and its tree takes much more memory than the page.
 */
function guardedAdapter(): typeof defaultTreeAdapter {
  let count = 0
  return {
    ...defaultTreeAdapter,
    createElement(...args) {
      count += 1
      requirePieces(count, 'elements')
      return defaultTreeAdapter.createElement(...args)
    },
    appendChild(parent, child) {
      defaultTreeAdapter.appendChild(parent, child)
      requireShallow(parent)
    },
  }
}

function requireShallow(node: DefaultTreeAdapterTypes.ParentNode): void {
  let depth = 0
  let ancestor: DefaultTreeAdapterTypes.ParentNode | null = node
  while (ancestor !== null) {
    depth += 1
    ancestor = 'parentNode' in ancestor ? ancestor.parentNode : null
  }
  if (depth > maxDepth) throw tooDeep()
}

function tooDeep(): ExtractionError {
  return new ExtractionError(
    'too_deep',
    `The markup nests elements more than ${maxDepth} levels deep. Flatten it and upload it again.`,
  )
}

/** Whether a node is an element, of one of the names if there are any. */
export function isElement(node: PageNode | undefined, ...names: string[]): node is XmlElement {
  if (node === undefined || typeof node === 'string') return false
  return names.length === 0 || names.includes(node.name)
}

/** The text of a node and its descendants, as written. */
export function textOf(node: PageNode): string {
  if (typeof node === 'string') return node
  const texts: string[] = []
  const collect = (element: XmlElement) => {
    for (const child of element.children) {
      if (typeof child === 'string') texts.push(child)
      else collect(child)
    }
  }
  collect(node)
  return texts.join('')
}

const lengths = new WeakMap<XmlElement, number>()

/** The length of the text of a node. Lengths are cached, because each level of a page requests those below it. */
export function lengthOf(node: PageNode): number {
  if (typeof node === 'string') return node.length
  const known = lengths.get(node)
  if (known !== undefined) return known
  let length = 0
  for (const child of node.children) length += lengthOf(child)
  if (node.children.length > 1) lengths.set(node, length)
  return length
}

/** The text of a node in one line. */
export function lineOf(node: PageNode): string {
  return textOf(node).replace(/\s+/g, ' ').trim()
}

/** The first matching element in document order, the element itself included. */
export function find(
  element: XmlElement,
  matches: (element: XmlElement) => boolean,
): XmlElement | undefined {
  if (matches(element)) return element
  for (const child of element.children) {
    const found = typeof child === 'string' ? undefined : find(child, matches)
    if (found !== undefined) return found
  }
  return undefined
}

/** The outermost matching elements of a tree. */
export function findAll(
  element: XmlElement,
  matches: (element: XmlElement) => boolean,
): XmlElement[] {
  if (matches(element)) return [element]
  return element.children.flatMap((child) =>
    typeof child === 'string' ? [] : findAll(child, matches),
  )
}

export function classesOf({ attributes }: XmlElement): string[] {
  const names = attributes.class
  return names === undefined ? [] : names.split(/\s+/).filter((name) => name !== '')
}

import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { ExtractionError } from '../document/extraction.js'
import { decodeXml } from './decode.js'

/** Deeper than any program nests a document; the functions that walk elements are recursive. */
const maxDepth = 250
/** Nodes of one wanted element, such as a table, which is held in memory as a whole. */
const maxElement = 1_000_000

/** An element without namespace prefixes, which differ from program to program. */
export interface XmlElement {
  name: string
  /** By full name, prefix included. */
  attributes: Readonly<Record<string, string>>
  children: (XmlElement | string)[]
}

/** Receives the wanted elements of an XML document. */
interface XmlReader {
  /** Local names of the elements to visit. A visited element has all of its descendants. */
  wanted: ReadonlySet<string>
  /** Called with each wanted element once it is complete, in document order. */
  visit(element: XmlElement): void
  /** Called when an element begins that is not part of a wanted one, with its local name. */
  begin?(name: string, attributes: XmlElement['attributes']): void
}

/**
 * Reads an XML document as a stream, so that only one wanted element is in memory at a time.
 * Entities that the document defines are an error, so that none can expand to huge text.
 *
 * @throws Error if it is not well-formed
 * @throws ExtractionError if it is nested too deeply or an element is too large
 */
export function readXml(bytes: Uint8Array, reader: XmlReader): void {
  const parser = new SaxesParser({ xmlns: false, position: false })
  const open: XmlElement[] = []
  let depth = 0
  let size = 0

  const grow = () => {
    size += 1
    if (size > maxElement) throw tooComplex()
  }
  parser.on('opentag', (tag: SaxesTagPlain) => {
    depth += 1
    if (depth > maxDepth) throw tooDeep()
    const name = localName(tag.name)
    if (open.length === 0 && !reader.wanted.has(name)) {
      reader.begin?.(name, tag.attributes)
      return
    }
    const element: XmlElement = { name, attributes: tag.attributes, children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
    grow()
  })
  parser.on('closetag', () => {
    depth -= 1
    const closed = open.pop()
    if (closed === undefined || open.length > 0) return
    size = 0
    reader.visit(closed)
  })
  const addText = (text: string) => {
    const parent = open.at(-1)
    if (parent === undefined || text === '') return
    parent.children.push(text)
    grow()
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('error', (error) => {
    throw error
  })
  const text = decodeXml(bytes)
  // In pieces: the parser copies its input.
  const step = 65_536
  for (let at = 0; at < text.length; at += step) parser.write(text.slice(at, at + step))
  parser.close()
}

/** Reads a small XML document as a whole. */
export function parseXml(bytes: Uint8Array, root: string): XmlElement {
  let found: XmlElement | undefined
  readXml(bytes, {
    wanted: new Set([root]),
    visit(element) {
      found ??= element
    },
  })
  if (found === undefined) throw new Error(`the element ${root} is missing`)
  return found
}

/** The child elements, or those of one name. */
export function elements(parent: XmlElement | undefined, name?: string): XmlElement[] {
  const found: XmlElement[] = []
  for (const child of parent?.children ?? []) {
    if (typeof child !== 'string' && (name === undefined || child.name === name)) found.push(child)
  }
  return found
}

/** The descendant at a path of names; of several children of one name, the first. */
export function descend(
  parent: XmlElement | undefined,
  ...names: string[]
): XmlElement | undefined {
  let element = parent
  for (const name of names) {
    element = element?.children.find(
      (child): child is XmlElement => typeof child !== 'string' && child.name === name,
    )
  }
  return element
}

/** All descendants of a name in document order, without those nested in another one of them. */
export function findElements(parent: XmlElement, name: string): XmlElement[] {
  return elements(parent).flatMap((child) =>
    child.name === name ? [child] : findElements(child, name),
  )
}

/** An attribute by its local name, preferably the one without a prefix. */
export function attribute(element: XmlElement | undefined, name: string): string | undefined {
  if (element === undefined) return undefined
  return element.attributes[name] ?? prefixed(element, name)
}

/** An attribute with a prefix, such as `r:id`, on elements that also have one without. */
export function prefixed(element: XmlElement, name: string): string | undefined {
  const key = Object.keys(element.attributes).find((full) => full.endsWith(`:${name}`))
  return key === undefined ? undefined : element.attributes[key]
}

/** All text in an element. */
export function textContent(element: XmlElement | undefined): string {
  if (element === undefined) return ''
  return element.children
    .map((child) => (typeof child === 'string' ? child : textContent(child)))
    .join('')
}

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}

function tooDeep(): ExtractionError {
  return new ExtractionError(
    'too_deep',
    `The document nests its parts more than ${maxDepth} levels deep. Flatten it and upload it again.`,
  )
}

function tooComplex(): ExtractionError {
  return new ExtractionError(
    'too_large',
    `The document has a table or another part of more than ${maxElement.toLocaleString('en')} pieces, the maximum. Split it into several files.`,
  )
}

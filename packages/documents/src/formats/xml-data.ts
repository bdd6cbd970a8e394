import type { Extraction, Source } from '../document/extraction.js'
import { createTextLimit, requireLines, requireReadable } from '../document/limits.js'
import { dataToBlocks } from './data.js'
import { type Members, maxDepth, tooDeep, type Value } from './data-values.js'
import { decodeSource } from './decode.js'
import { declaredCharset } from './html.js'
import { isElement, type PageNode, parseWellFormed } from './html-tree.js'
import { raise } from './phrases.js'
import { toCode } from './source-code.js'
import type { XmlElement } from './xml.js'

/** Maximum ratio of the length of a file to its text: tags and attributes. */
const maxMarkupRatio = 8
/** Attributes that say how a file is to be read. */
const technical = /^(?:xmlns(?:$|:)|xsi:|xml:space$)/
/** The member with the text of an element that also has attributes. */
const textMember = 'text'

/**
 * Reads XML as data: attributes and elements become members of objects, neighbours of one name a list, and an element
 * with words between its elements a text. A file that is not well-formed is read as it is written.
 */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeSource(source, declaredCharset(source.bytes))
  const text = requireReadable(decoded, source, maxMarkupRatio)
  const report = source.omissions && { omissions: source.omissions }
  const document = parseWellFormed(text, report, { keepsCase: true })
  const root = document?.children.find((child) => isElement(child))
  if (!isElement(root)) {
    requireLines(text)
    return { root: { type: 'root', children: toCode(text, 'xml') } }
  }
  return {
    root: { type: 'root', children: dataToBlocks(toValue(root, 0), createTextLimit(source)) },
  }
}

function toValue(element: XmlElement, depth: number): Value {
  if (depth > maxDepth) throw tooDeep()
  const members: Members = { keys: [], values: [] }
  for (const [name, value] of Object.entries(element.attributes)) {
    if (!technical.test(name)) add(members, name, value)
  }
  const inner = element.children.filter((child) => isElement(child))
  const hasWords = element.children.some((child) => !isElement(child) && child.trim() !== '')
  if (hasWords || inner.length === 0) {
    const text = textOf(element).replace(/\s+/g, ' ').trim()
    if (members.keys.length === 0) return text
    if (text !== '') add(members, textMember, text)
    return members
  }
  for (const each of inner) addElement(members, each, depth)
  return members
}

/** Elements of documents and of tables whose text is raised or lowered. */
const raisedNames: Readonly<Record<string, 'sup' | 'sub'>> = {
  superscript: 'sup',
  sup: 'sup',
  subscript: 'sub',
  sub: 'sub',
}

/** Characters before a raised text that decide how it is written. */
const maxEnd = 40

/** The text of an element; an empty one in it, such as a line break, separates words. */
function textOf(node: PageNode): string {
  if (typeof node === 'string') return node
  if (node.children.length === 0) return ' '
  const texts: string[] = []
  // Kept by itself: the end of a text that grows is found by copying all of it each time.
  let end = ''
  node.children.forEach((child, at) => {
    const place = typeof child === 'string' ? undefined : raisedNames[child.name]
    const next = node.children[at + 1] ?? ''
    const text =
      place === undefined
        ? textOf(child)
        : raise(place, textOf(child), end, typeof next === 'string' ? next : '')
    texts.push(text)
    end = `${end}${text.slice(-maxEnd)}`.slice(-maxEnd)
  })
  return texts.join('')
}

function add({ keys, values }: Members, key: string, value: Value): void {
  keys.push(key)
  values.push(value)
}

/** Adds an element: to the list of those of its name if it follows another one directly. */
function addElement(members: Members, element: XmlElement, depth: number): void {
  const value = toValue(element, depth + 1)
  const { keys, values } = members
  if (keys.at(-1) !== element.name) {
    add(members, element.name, value)
    return
  }
  const last = values.at(-1) ?? null
  if (Array.isArray(last)) last.push(value)
  else values[values.length - 1] = [last, value]
}

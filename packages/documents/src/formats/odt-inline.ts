import type { Span } from './spans.js'
import { attribute, elements, findElements, textContent, type XmlElement } from './xml.js'

/** What stands in a paragraph. */
interface InlineContent {
  spans: Span[]
  /** Text boxes that are anchored in the paragraph. */
  boxes: XmlElement[]
  notes: { identifier: string; text: string }[]
}

/** A number of blanks that is written as one element; more are a mistake or an attack. */
const MOST_BLANKS = 100
/** Remarks of reviewers, furigana, and marks without text. */
const UNSEEN: ReadonlySet<string> = new Set(['annotation', 'ruby-text', 'bookmark', 'change'])

/** Reads the text of a paragraph or heading. */
export function readInline(element: XmlElement): InlineContent {
  const content: InlineContent = { spans: [], boxes: [], notes: [] }
  readAll(element, undefined, content)
  return content
}

function readAll(parent: XmlElement, url: string | undefined, content: InlineContent): void {
  for (const child of parent.children) {
    if (typeof child !== 'string') readOne(child, url, content)
    // Line breaks and indentation of the file mean nothing.
    else content.spans.push(withLink(child.replace(/\s+/g, ' '), url))
  }
}

function readOne(element: XmlElement, url: string | undefined, content: InlineContent): void {
  if (UNSEEN.has(element.name)) return
  switch (element.name) {
    case 'a':
      readAll(element, attribute(element, 'href'), content)
      return
    case 's': {
      const count = Math.min(Number(attribute(element, 'c') ?? 1) || 1, MOST_BLANKS)
      content.spans.push(withLink(' '.repeat(count), url))
      return
    }
    case 'tab':
      content.spans.push(withLink(' ', url))
      return
    case 'line-break':
      content.spans.push({ text: '', node: { type: 'break' } })
      return
    case 'note':
      readNote(element, content)
      return
    case 'frame':
    case 'custom-shape':
      readFrame(element, content)
      return
    default:
      readAll(element, url, content)
  }
}

function readNote(element: XmlElement, content: InlineContent): void {
  // The mark that readers see; the id is made up by the program that wrote the file.
  const mark = elements(element, 'note-citation').map(textContent).join('').trim()
  const prefix = attribute(element, 'note-class') === 'endnote' ? 'e' : ''
  const id = attribute(element, 'id') ?? `n${content.notes.length}`
  const identifier = /^[\p{L}\p{N}]+$/u.test(mark) ? `${prefix}${mark}` : id
  const body = elements(element, 'note-body').map(textContent).join(' ')
  content.spans.push({ text: '', node: { type: 'footnoteReference', identifier } })
  content.notes.push({ identifier, text: body.replace(/\s+/g, ' ').trim() })
}

function readFrame(element: XmlElement, content: InlineContent): void {
  const boxes = findElements(element, 'text-box')
  content.boxes.push(...boxes)
  if (boxes.length > 0) return
  const described = [...elements(element, 'desc'), ...elements(element, 'title')]
  const alt = described.map(textContent).find((text) => text.trim() !== '')
  if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
}

function withLink(text: string, url: string | undefined): Span {
  return url === undefined ? { text } : { text, url }
}

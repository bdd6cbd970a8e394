import type { Span } from '../document/nodes.js'
import { altTextOf } from './opc.js'
import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

interface NoteReference {
  kind: 'footnote' | 'endnote'
  /** Id of the note in the file. */
  id: string
  /** Number that readers see, from 1; that of an endnote has the prefix `e`. */
  identifier: string
}

/** The content of a paragraph. */
interface ParagraphContent {
  spans: Span[]
  /** Contents of text boxes that are anchored in the paragraph. */
  boxes: XmlElement[]
  notes: NoteReference[]
}

/** Reads the text of paragraphs. */
export interface RunReader {
  read(paragraph: XmlElement): ParagraphContent
}

/** Elements whose text is not shown: deletions, instructions of fields, properties. */
const hiddenElements: ReadonlySet<string> = new Set(
  'del moveFrom instrText delText delInstrText pPr rPr sdtPr fldData annotationRef rt'.split(' '),
)

/** @param relations of the part that the paragraphs are in, which hold the targets of links */
export function createRunReader(
  relations: ReadonlyMap<string, { target: string; external: boolean }>,
): RunReader {
  const numbers = { footnote: new Map<string, number>(), endnote: new Map<string, number>() }
  return {
    read(paragraph) {
      const content: ParagraphContent = { spans: [], boxes: [], notes: [] }
      readAll(paragraph, {}, content)
      return content
    },
  }

  function readAll(parent: XmlElement, format: Partial<Span>, content: ParagraphContent): void {
    for (const child of elements(parent)) readOne(child, format, content)
  }

  function readOne(element: XmlElement, format: Partial<Span>, content: ParagraphContent): void {
    if (hiddenElements.has(element.name)) return
    switch (element.name) {
      case 'r': {
        const properties = descend(element, 'rPr')
        if (!isOn(properties, 'vanish')) readAll(element, withFormat(format, properties), content)
        return
      }
      case 't':
        content.spans.push({ ...format, text: textContent(element) })
        return
      case 'hyperlink': {
        const relation = relations.get(attribute(element, 'id') ?? '')
        const link = relation?.external === true ? { url: relation.target } : {}
        readAll(element, { ...format, ...link }, content)
        return
      }
      case 'drawing':
      case 'pict':
      case 'object':
        readDrawing(element, content)
        return
      case 'AlternateContent':
        // The same content twice, for new and for old programs.
        readAll(
          descend(element, 'Choice') ?? descend(element, 'Fallback') ?? element,
          format,
          content,
        )
        return
      case 'footnoteReference':
      case 'endnoteReference':
        readNote(element, content)
        return
      case 'oMath':
      case 'oMathPara':
        content.spans.push({ text: textContent(element) })
        return
      default:
        readMark(element, format, content)
    }
  }

  function readMark(element: XmlElement, format: Partial<Span>, content: ParagraphContent): void {
    switch (element.name) {
      case 'tab':
      case 'ptab':
        content.spans.push({ ...format, text: ' ' })
        return
      case 'br':
      case 'cr':
        if (attribute(element, 'type') === undefined) {
          content.spans.push({ text: '', node: { type: 'break' } })
        }
        return
      case 'noBreakHyphen':
        content.spans.push({ ...format, text: '-' })
        return
      case 'softHyphen':
        return
      default:
        readAll(element, format, content)
    }
  }

  function readNote(element: XmlElement, content: ParagraphContent): void {
    const id = attribute(element, 'id') ?? ''
    const kind = element.name === 'endnoteReference' ? 'endnote' : 'footnote'
    const own = numbers[kind]
    const number = own.get(id) ?? own.size + 1
    own.set(id, number)
    const identifier = `${kind === 'endnote' ? 'e' : ''}${number}`
    content.notes.push({ kind, id, identifier })
    content.spans.push({ text: '', node: { type: 'footnoteReference', identifier } })
  }
}

/** A text box is read as its text, a picture as its alternative text. */
function readDrawing(element: XmlElement, content: ParagraphContent): void {
  const boxes = findElements(element, 'txbxContent')
  content.boxes.push(...boxes)
  if (boxes.length > 0) return
  const alt = altTextOf(findElements(element, 'docPr')[0])
  if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
}

function withFormat(format: Partial<Span>, properties: XmlElement | undefined): Partial<Span> {
  if (properties === undefined) return format
  return {
    ...format,
    ...(isOn(properties, 'b') && { bold: true }),
    ...(isOn(properties, 'i') && { italic: true }),
  }
}

/** A toggle property is on if it is there and does not say otherwise. */
function isOn(properties: XmlElement | undefined, name: string): boolean {
  const toggle = descend(properties, name)
  if (toggle === undefined) return false
  return !['0', 'false', 'off', 'none'].includes(attribute(toggle, 'val') ?? '')
}

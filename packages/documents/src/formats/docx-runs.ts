import type { Span } from './spans.js'
import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

interface NoteReference {
  kind: 'footnote' | 'endnote'
  /** What the file calls the note. */
  id: string
  /** What its readers see: notes count from 1, end notes with an `e` before it. */
  identifier: string
}

/** What stands in a paragraph. */
interface ParagraphContent {
  spans: Span[]
  /** Contents of text boxes that are anchored in the paragraph: paragraphs and tables. */
  boxes: XmlElement[]
  notes: NoteReference[]
}

/** Reads the text of paragraphs. */
export interface RunReader {
  read(paragraph: XmlElement): ParagraphContent
}

/** Elements whose text was deleted, or which say what a field is made of. */
const UNSEEN: ReadonlySet<string> = new Set(
  'del moveFrom instrText delText delInstrText pPr rPr sdtPr fldData annotationRef rt'.split(' '),
)

/** @param relations of the part that the paragraphs are in; they say where links lead */
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
    if (UNSEEN.has(element.name)) return
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
        // The same content twice, for newer programs and for older ones.
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

/** A picture is what its author says about it; a text box is the text in it. */
function readDrawing(element: XmlElement, content: ParagraphContent): void {
  const boxes = findElements(element, 'txbxContent')
  content.boxes.push(...boxes)
  if (boxes.length > 0) return
  const alt = describedBy(findElements(element, 'docPr')[0])
  if (alt !== undefined) content.spans.push({ text: '', node: { type: 'image', url: '', alt } })
}

/** What an author says about a picture, unless it is only the name of a file. */
export function describedBy(properties: XmlElement | undefined): string | undefined {
  const text = (attribute(properties, 'descr') ?? '').replace(/\s+/g, ' ').trim()
  return text === '' || /^\S+\.(png|jpe?g|gif|svg|emf|wmf|bmp|tiff?)$/i.test(text)
    ? undefined
    : text
}

function withFormat(format: Partial<Span>, properties: XmlElement | undefined): Partial<Span> {
  if (properties === undefined) return format
  return {
    ...format,
    ...(isOn(properties, 'b') && { bold: true }),
    ...(isOn(properties, 'i') && { italic: true }),
  }
}

/** A switch is on when it is there and does not say otherwise. */
function isOn(properties: XmlElement | undefined, name: string): boolean {
  const found = descend(properties, name)
  return (
    found !== undefined && !['0', 'false', 'off', 'none'].includes(attribute(found, 'val') ?? '')
  )
}

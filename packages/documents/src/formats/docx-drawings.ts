import type { FlowBlock } from '../document/flow.js'
import type { OmissionPlace, Omissions } from '../document/omissions.js'
import type { LinkedParts } from './office-parts.js'
import { altTextOf, type Relations } from './opc.js'
import { attribute, descend, elements, findElements, type XmlElement } from './xml.js'

/** The content of a drawing of Word. */
interface Drawing {
  /** Contents of text boxes, of which a group may have several. */
  boxes: XmlElement[]
  /** Charts, diagrams and files. */
  shown: FlowBlock[][]
  /** Decorative text (WordArt). */
  lettering: string[]
  /** Description of a picture, where nothing else is shown. */
  alt?: string
}

/** Context of the drawings of a part. */
interface DrawingContext {
  relations: Relations
  parts: LinkedParts
  omissions: Omissions
  place?: OmissionPlace
  isHeaderOrFooter?: boolean
}

/** Reads a drawing, and reports its omissions. */
export function readDrawing(element: XmlElement, context: DrawingContext): Drawing {
  const { omissions, place } = context
  const boxes = boxesOf(element)
  const shown = linkedParts(element, context.parts)
  const stated = outside(element, 'textpath').map((each) => attribute(each, 'string') ?? '')
  // Behind the text of every page, it is a watermark.
  const lettering = context.isHeaderOrFooter === true ? [] : stated
  if (lettering.length < stated.length) omissions.add('other_direction', place)
  if (boxes.length > 0 || shown.length > 0 || stated.length > 0) return { boxes, shown, lettering }
  const alt = altOf(element)
  if (alt !== undefined) return { boxes, shown, lettering, alt }
  if (outside(element, 'OLEObject').length === 0) reportPictures(element, context)
  return { boxes, shown, lettering }
}

/** Descendants of a name, without those in text boxes, which are read by themselves. */
function outside(element: XmlElement, name: string): XmlElement[] {
  return elements(element).flatMap((child) => {
    if (child.name === name) return [child]
    return child.name === 'txbxContent' ? [] : outside(child, name)
  })
}

function boxesOf(element: XmlElement): XmlElement[] {
  return elements(element).flatMap((child) => {
    if (child.name === 'txbxContent') return [child]
    // The same content twice, for new and for old programs.
    const inner =
      child.name === 'AlternateContent'
        ? (descend(child, 'Choice') ?? descend(child, 'Fallback') ?? child)
        : child
    return boxesOf(inner)
  })
}

/** The parts that a drawing refers to, which are read already. */
function linkedParts(element: XmlElement, parts: LinkedParts): FlowBlock[][] {
  const references = [
    ...outside(element, 'chart').map((each) => attribute(each, 'id')),
    ...outside(element, 'relIds').map((each) => attribute(each, 'dm')),
    ...outside(element, 'OLEObject').map((each) => attribute(each, 'id')),
  ]
  return references.flatMap((id) => {
    const blocks = parts.get(id ?? '')
    return blocks === undefined || blocks.length === 0 ? [] : [blocks]
  })
}

function reportPictures(
  element: XmlElement,
  { relations, omissions, place }: DrawingContext,
): void {
  const isDecorative = findElements(element, 'decorative').some(
    (each) => attribute(each, 'val') === '1',
  )
  if (isDecorative) return
  for (const picture of [...findElements(element, 'blip'), ...findElements(element, 'imagedata')]) {
    const id = attribute(picture, 'embed') ?? attribute(picture, 'id') ?? ''
    const part = relations.get(id)?.target
    omissions.add('picture_without_text', { ...place, ...(part !== undefined && { part }) })
  }
}

function altOf(element: XmlElement): string | undefined {
  const described = altTextOf(findElements(element, 'docPr')[0])
  if (described !== undefined) return described
  const shapes = ['cNvPr', 'shape'].flatMap((name) => findElements(element, name))
  for (const shape of shapes) {
    const alt = altTextOf(shape) ?? attribute(shape, 'alt')
    if (alt !== undefined && alt.trim() !== '') return alt.trim()
  }
  return undefined
}

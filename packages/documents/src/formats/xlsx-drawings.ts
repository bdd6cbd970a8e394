import type { FlowBlock } from '../document/flow.js'
import { paragraph, plainText } from '../document/nodes.js'
import type { OmissionKind } from '../document/omissions.js'
import type { LinkedParts } from './office-parts.js'
import { altTextOf, type OfficePackage, type Relations } from './opc.js'
import { decodeEscapes, richText } from './xlsx-cells.js'
import {
  attribute,
  descend,
  elements,
  findElements,
  prefixed,
  textContent,
  type XmlElement,
} from './xml.js'

/** Reports an omission on a sheet. */
export type Report = (kind: OmissionKind, part?: string, detail?: string) => void

interface Drawing {
  relations: Relations
  /** Charts and diagrams by the ids of their relations. */
  parts: LinkedParts
  report: Report
}

/** The texts of objects on a sheet: text boxes, charts, diagrams, descriptions of pictures. */
export function readDrawing(drawing: XmlElement, context: Drawing): FlowBlock[] {
  return shapesOf(drawing).flatMap((shape) => readShape(context, shape))
}

/** Shapes in the order of the drawing, those of groups and of the newest alternative included. */
function shapesOf(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (['sp', 'pic', 'graphicFrame', 'cxnSp'].includes(child.name)) return [child]
    if (child.name !== 'AlternateContent') return shapesOf(child)
    return shapesOf(descend(child, 'Choice') ?? descend(child, 'Fallback') ?? child)
  })
}

function readShape(drawing: Drawing, shape: XmlElement): FlowBlock[] {
  const properties = elements(shape)
    .map((child) => descend(child, 'cNvPr'))
    .find((found) => found !== undefined)
  const alt = altTextOf(properties)
  const described = alt === undefined ? [] : [paragraph([{ type: 'image', url: '', alt }])]
  if (shape.name === 'pic') {
    if (alt === undefined && !isDecorative(properties)) drawing.report('picture_without_text')
    return described
  }
  if (shape.name === 'graphicFrame') return [...readFrame(drawing, shape), ...described]
  return [...elements(descend(shape, 'txBody'), 'p').flatMap(toParagraph), ...described]
}

function isDecorative(properties: XmlElement | undefined): boolean {
  const marks = properties === undefined ? [] : findElements(properties, 'decorative')
  return marks.some((mark) => attribute(mark, 'val') === '1')
}

function toParagraph(element: XmlElement): FlowBlock[] {
  const text = elements(element)
    .map((child) => (child.name === 'br' ? ' ' : textContent(descend(child, 't'))))
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
  return text === '' ? [] : [paragraph(text)]
}

/** The content of a chart or a diagram. */
function readFrame({ relations, parts, report }: Drawing, frame: XmlElement): FlowBlock[] {
  const [chart] = findElements(frame, 'chart')
  const [diagram] = findElements(frame, 'relIds')
  if (chart === undefined && diagram === undefined) return []
  const id = chart === undefined ? prefixed(diagram ?? frame, 'dm') : prefixed(chart, 'id')
  const target = relations.get(id ?? '')?.target
  const blocks = parts.get(id ?? '')
  if (blocks === undefined) report('missing_part', target)
  return blocks === undefined || chart === undefined ? (blocks ?? []) : toLabels(blocks)
}

/** The words of a chart: its values are in the cells that it shows. */
function toLabels(blocks: readonly FlowBlock[]): FlowBlock[] {
  const texts = blocks.flatMap((block) => {
    if (block.type !== 'table') return [plainText(block)]
    const [head, ...rows] = block.children.map((row) => row.children.map(plainText))
    const names = (head ?? []).slice(1)
    const categories = rows.map(([category = '']) => category)
    return [labelled('Series', names), labelled('Categories', categories)]
  })
  const filled = texts.filter((text) => text !== '')
  return filled.length === 0 ? [] : [paragraph(`Chart: ${filled.join('. ')}`)]
}

function labelled(name: string, labels: readonly string[]): string {
  const filled = [...new Set(labels.filter((label) => label !== ''))]
  return filled.length === 0 ? '' : `${name}: ${filled.join(', ')}`
}

/** Characters of a cell that stand beside the comments on it, of which there may be thousands. */
const maxShownLength = 200

/** A comment on a cell. */
interface Comment {
  reference: string
  text: string
}

/**
 * The comments of a sheet, discussions included, by their cells.
 *
 * @param shownAt the text of a cell
 */
export async function readComments(
  office: OfficePackage,
  relations: Relations,
  shownAt: (reference: string) => string,
): Promise<FlowBlock[]> {
  const targets = (type: string) =>
    [...relations.values()].filter((each) => each.type === type && office.archive.has(each.target))
  const threads: Comment[] = []
  for (const { target } of targets('threadedComment')) {
    const root = await office.parse(target, 'ThreadedComments')
    for (const each of elements(root, 'threadedComment')) {
      threads.push(toComment(each, decodeEscapes(textContent(descend(each, 'text')))))
    }
  }
  // Older programs show a comment with a notice in place of each discussion.
  const discussed = new Set(threads.map(({ reference }) => reference))
  const notes: Comment[] = []
  for (const { target } of targets('comments')) {
    const list = descend(await office.parse(target, 'comments'), 'commentList')
    for (const each of elements(list, 'comment')) {
      notes.push(toComment(each, richText(descend(each, 'text'))))
    }
  }
  const comments = [...notes.filter(({ reference }) => !discussed.has(reference)), ...threads]
  return comments.flatMap(({ reference, text }) => {
    if (text === '') return []
    const shown = shownAt(reference).slice(0, maxShownLength)
    return [paragraph(`Comment on ${reference}${shown === '' ? '' : ` (${shown})`}: ${text}`)]
  })
}

function toComment(element: XmlElement, text: string): Comment {
  return { reference: attribute(element, 'ref') ?? '', text: text.replace(/\s+/g, ' ').trim() }
}

import type { BlockContent, PhrasingContent, Table } from 'mdast'
import { describedBy } from './docx-runs.js'
import { buildList, type ListLine } from './list-builder.js'
import { paragraph, table } from './nodes.js'
import { type Span, spanText, toPhrasing } from './spans.js'
import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

type Relations = ReadonlyMap<string, { target: string; external: boolean }>

/** Placeholders that say the same on every slide. */
const FURNITURE: ReadonlySet<string> = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])
const TITLES: ReadonlySet<string> = new Set(['title', 'ctrTitle'])

interface ShapeTree {
  title: string | undefined
  blocks: BlockContent[]
}

/** The title and the content of a slide, in the order in which screen readers say it. */
export function readShapes(tree: XmlElement | undefined, relations: Relations): ShapeTree {
  const found: ShapeTree = { title: undefined, blocks: [] }
  for (const shape of elements(tree)) readShape(shape, relations, found)
  return found
}

/** The texts of a diagram, whose drawing is made anew from them. */
export function readDiagram(model: XmlElement): BlockContent[] {
  const lines = findElements(model, 'pt').flatMap((point): ListLine[] => {
    const text = textContent(descend(point, 't')).replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [{ level: 0, ordered: false, content: paragraph(text) }]
  })
  return buildList(lines)
}

function readShape(shape: XmlElement, relations: Relations, found: ShapeTree): void {
  switch (shape.name) {
    case 'grpSp':
      for (const child of elements(shape)) readShape(child, relations, found)
      return
    case 'AlternateContent':
      for (const child of elements(descend(shape, 'Choice') ?? descend(shape, 'Fallback'))) {
        readShape(child, relations, found)
      }
      return
    case 'graphicFrame':
      for (const grid of findElements(shape, 'tbl')) found.blocks.push(readTable(grid, relations))
      return
    case 'pic': {
      const alt = describedBy(descend(shape, 'nvPicPr', 'cNvPr'))
      if (alt !== undefined) found.blocks.push(paragraph([{ type: 'image', url: '', alt }]))
      return
    }
    case 'sp':
      readText(shape, relations, found)
  }
}

function readText(shape: XmlElement, relations: Relations, found: ShapeTree): void {
  const placeholder = descend(shape, 'nvSpPr', 'nvPr', 'ph')
  const type = placeholder === undefined ? undefined : (attribute(placeholder, 'type') ?? 'obj')
  if (type !== undefined && FURNITURE.has(type)) return
  const paragraphs = elements(descend(shape, 'txBody'), 'p')
  if (type !== undefined && TITLES.has(type) && found.title === undefined) {
    const text = paragraphs.map((each) => spanText(readSpans(each, relations))).join(' ')
    found.title = text.trim() || undefined
    return
  }
  const lines = paragraphs.flatMap((each): ListLine[] => {
    const spans = readSpans(each, relations)
    if (spanText(spans) === '') return []
    const properties = descend(each, 'pPr')
    const level = Number(attribute(properties, 'lvl') ?? 0) || 0
    const ordered = descend(properties, 'buAutoNum') !== undefined
    return [{ level, ordered, content: paragraph(toPhrasing(spans)) }]
  })
  // Content placeholders list their paragraphs with bullets from the master, text boxes do not.
  const isList = type === 'obj' || type === 'body' || lines.some((line) => line.ordered)
  if (isList && lines.length > 1) found.blocks.push(...buildList(lines))
  else found.blocks.push(...lines.map((line) => line.content))
}

/** Fields are left out of furniture only; a date in a text is text. */
function readSpans(paragraphElement: XmlElement, relations: Relations): Span[] {
  return elements(paragraphElement).flatMap((child): Span[] => {
    if (child.name === 'br') return [{ text: '', node: { type: 'break' } }]
    if (child.name !== 'r' && child.name !== 'fld') {
      const isMath = child.name === 'm' || child.name === 'AlternateContent'
      return isMath ? [{ text: textContent(descend(child, 'Choice') ?? child) }] : []
    }
    const properties = descend(child, 'rPr')
    const relation = relations.get(attribute(descend(properties, 'hlinkClick'), 'id') ?? '')
    return [
      {
        text: textContent(descend(child, 't')),
        ...(attribute(properties, 'b') === '1' && { bold: true }),
        ...(attribute(properties, 'i') === '1' && { italic: true }),
        ...(relation?.external === true && { url: relation.target }),
      },
    ]
  })
}

/** Merged cells are repeated in every row that they cover, as in other documents. */
function readTable(grid: XmlElement, relations: Relations): Table {
  const rows: PhrasingContent[][][] = []
  for (const row of elements(grid, 'tr')) {
    const above = rows.at(-1) ?? []
    rows.push(
      elements(row, 'tc').map((cell, column) => {
        if (attribute(cell, 'vMerge') === '1') return above[column] ?? []
        const spans = elements(descend(cell, 'txBody'), 'p').flatMap((each, index) => [
          ...(index === 0 ? [] : [{ text: ' ' }]),
          ...readSpans(each, relations),
        ])
        return toPhrasing(spans)
      }),
    )
  }
  return table(rows)
}

import type { BlockContent, DefinitionContent, List, ListItem, PhrasingContent } from 'mdast'
import { paragraph, table } from './nodes.js'
import { readInline } from './odt-inline.js'
import { toPhrasing } from './spans.js'
import { attribute, elements, findElements, type XmlElement } from './xml.js'

/** Empty rows and columns up to the edge of the page are written as one that is repeated. */
const MOST_REPEATED = 20

type Block = BlockContent | DefinitionContent

/** A list with the lists inside of it. Which of them count is said elsewhere, so all have bullets. */
export function readList(element: XmlElement): List[] {
  const children: ListItem[] = []
  for (const item of elements(element)) {
    if (item.name !== 'list-item' && item.name !== 'list-header') continue
    const content = elements(item).flatMap((child): BlockContent[] => {
      if (child.name === 'list') return readList(child)
      if (child.name !== 'p' && child.name !== 'h') return []
      return [paragraph(toPhrasing(readInline(child).spans))]
    })
    children.push({ type: 'listItem', spread: false, children: content })
  }
  return [{ type: 'list', ordered: false, spread: false, children }]
}

/**
 * A table with merged cells repeated in every row that they cover; one of a single column is what
 * stands in it.
 */
export function readTable(
  element: XmlElement,
  readBlock: (element: XmlElement) => Block[],
): Block[] {
  const rows = rowsOf(element)
  if (rows.every((row) => elements(row, 'table-cell').length < 2)) {
    return rows.flatMap((row) => elements(row).flatMap((cell) => elements(cell).flatMap(readBlock)))
  }
  const read: PhrasingContent[][][] = []
  for (const row of rows) read.push(readRow(row, read.at(-1) ?? []))
  return [table(read)]
}

function rowsOf(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === 'table-row') return [child]
    const wraps = ['table-header-rows', 'table-rows', 'table-row-group'].includes(child.name)
    return wraps ? rowsOf(child) : []
  })
}

function readRow(row: XmlElement, above: readonly PhrasingContent[][]): PhrasingContent[][] {
  const cells: PhrasingContent[][] = []
  for (const cell of elements(row)) {
    const isCovered = cell.name === 'covered-table-cell'
    if (!isCovered && cell.name !== 'table-cell') continue
    const content = isCovered ? (above[cells.length] ?? []) : readCell(cell)
    const times = Number(attribute(cell, 'number-columns-repeated') ?? 1) || 1
    for (let count = 0; count < Math.min(times, MOST_REPEATED); count += 1) cells.push(content)
  }
  return cells
}

function readCell(cell: XmlElement): PhrasingContent[] {
  const texts = [...findElements(cell, 'p'), ...findElements(cell, 'h')]
  const spans = texts.flatMap((each, index) => [
    ...(index === 0 ? [] : [{ text: ' ' }]),
    ...readInline(each).spans,
  ])
  return toPhrasing(spans)
}

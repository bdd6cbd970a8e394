import type { PhrasingContent, Table } from 'mdast'
import type { RunReader } from './docx-runs.js'
import { table } from './nodes.js'
import { toPhrasing } from './spans.js'
import { attribute, descend, elements, findElements, type XmlElement } from './xml.js'

/** More columns than this in one row are a mistake or an attack. */
const MOST_COLUMNS = 1000

/** A table, or the blocks of one that was made only for layout. */
type FoundTable = { type: 'table'; table: Table } | { type: 'layout'; blocks: XmlElement[] }

/** Reads a table: one line of text per cell, merged cells repeated in every row that they cover. */
export function readTable(element: XmlElement, runs: RunReader): FoundTable {
  const rows = rowsOf(element)
  if (rows.every((row) => cellsOf(row).length < 2)) {
    return { type: 'layout', blocks: rows.flatMap((row) => cellsOf(row).flatMap(blocksOf)) }
  }
  const read: PhrasingContent[][][] = []
  for (const row of rows) {
    const above = read.at(-1) ?? []
    const cells: PhrasingContent[][] = []
    for (const cell of cellsOf(row)) {
      const properties = descend(cell, 'tcPr')
      const isContinued = isMergedUpwards(properties)
      cells.push(isContinued ? (above[cells.length] ?? []) : toPhrasing(readCell(cell, runs)))
      const span = Number(attribute(descend(properties, 'gridSpan'), 'val') ?? 1)
      for (let extra = 1; extra < span && cells.length < MOST_COLUMNS; extra += 1) cells.push([])
    }
    read.push(cells)
  }
  return { type: 'table', table: table(read) }
}

function rowsOf(parent: XmlElement): XmlElement[] {
  return unwrapped(parent, 'tr')
}

function cellsOf(row: XmlElement): XmlElement[] {
  return unwrapped(row, 'tc')
}

/** Children of one name, also those inside of content controls and tracked insertions. */
function unwrapped(parent: XmlElement, name: string): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === name) return [child]
    const wraps = ['sdt', 'sdtContent', 'ins', 'customXml', 'smartTag'].includes(child.name)
    return wraps ? unwrapped(child, name) : []
  })
}

function blocksOf(cell: XmlElement): XmlElement[] {
  return elements(cell).filter((child) => ['p', 'tbl', 'sdt'].includes(child.name))
}

function readCell(cell: XmlElement, runs: RunReader) {
  return findElements(cell, 'p').flatMap((paragraph, index) => {
    const { spans, boxes } = runs.read(paragraph)
    const boxed = boxes.flatMap((box) => findElements(box, 'p')).flatMap((p) => runs.read(p).spans)
    const gap = index === 0 ? [] : [{ text: ' ' }]
    return [...gap, ...spans, ...boxed]
  })
}

function isMergedUpwards(properties: XmlElement | undefined): boolean {
  const merge = descend(properties, 'vMerge')
  return merge !== undefined && attribute(merge, 'val') !== 'restart'
}

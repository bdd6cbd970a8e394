import type { PhrasingContent, Table } from 'mdast'
import { table } from '../document/nodes.js'
import { createCellCopies, maxColumns, spanOf } from './merged-cells.js'
import { attribute, descend, elements, type XmlElement } from './xml.js'

/** A table, or the blocks in one that is used for layout only. */
export type TableContent =
  | { type: 'table'; table: Table }
  | { type: 'layout'; blocks: XmlElement[] }

/** Reads a table: one line of text per cell. Merged cells are repeated where they cover rows and columns. */
export function readTable(
  element: XmlElement,
  readCell: (cell: XmlElement) => PhrasingContent[],
): TableContent {
  const rows = rowsOf(element)
  if (rows.every((row) => cellsOf(row).length < 2)) {
    return { type: 'layout', blocks: rows.flatMap((row) => cellsOf(row).flatMap(blocksOf)) }
  }
  const copies = createCellCopies()
  const read: PhrasingContent[][][] = []
  for (const row of rows) {
    const above = read.at(-1) ?? []
    const cells = emptyCells(row, 'gridBefore')
    for (const cell of cellsOf(row)) {
      if (cells.length >= maxColumns) break
      const properties = descend(cell, 'tcPr')
      const span = Number(attribute(descend(properties, 'gridSpan'), 'val') ?? 1)
      if (isContinued(properties, 'hMerge'))
        copies.add(cells, copies.copy(cells.at(-1) ?? []), span)
      else if (isContinued(properties, 'vMerge')) {
        // Above may be a cell of other columns, so each column continues its own.
        for (let count = spanOf(span); count > 0 && cells.length < maxColumns; count -= 1) {
          cells.push(copies.copy(above[cells.length] ?? []))
        }
      } else copies.add(cells, readCell(cell), span)
    }
    read.push([...cells, ...emptyCells(row, 'gridAfter')])
  }
  return { type: 'table', table: table(read) }
}

/** Rows of a table, without those whose deletion is tracked. */
export function rowsOf(parent: XmlElement): XmlElement[] {
  return unwrapped(parent, 'tr').filter((row) => descend(row, 'trPr', 'del') === undefined)
}

export function cellsOf(row: XmlElement): XmlElement[] {
  return unwrapped(row, 'tc').filter((cell) => descend(cell, 'tcPr', 'cellDel') === undefined)
}

/** Elements around blocks that are no blocks themselves. */
const wrappers: ReadonlySet<string> = new Set(
  'sdt sdtContent ins moveTo customXml smartTag'.split(' '),
)

/** Children of one name, including those in content controls and tracked insertions. */
function unwrapped(parent: XmlElement, name: string): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === name) return [child]
    return wrappers.has(child.name) ? unwrapped(child, name) : []
  })
}

/** The paragraphs, tables and other blocks of a cell, a note or a text box. */
export function blocksOf(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (['p', 'tbl', 'altChunk'].includes(child.name)) return [child]
    return wrappers.has(child.name) ? blocksOf(child) : []
  })
}

/** Cells that a row leaves out at its beginning or end. */
function emptyCells(row: XmlElement, name: 'gridBefore' | 'gridAfter'): PhrasingContent[][] {
  const count = Number(attribute(descend(row, 'trPr', name), 'val') ?? 0)
  return Array.from({ length: count > 0 ? spanOf(count) : 0 }, () => [])
}

function isContinued(properties: XmlElement | undefined, name: 'hMerge' | 'vMerge'): boolean {
  const merge = descend(properties, name)
  return merge !== undefined && attribute(merge, 'val') !== 'restart'
}

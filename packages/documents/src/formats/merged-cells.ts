import type { PhrasingContent } from 'mdast'
import { plainText } from '../document/nodes.js'

/** More columns than this in one row are a mistake or an attack. */
export const maxColumns = 1000
/** Columns or rows that one cell covers; Word knows 63 columns in all. */
const maxSpan = 200
/** UTF-16 units that the copies of merged cells of one table may have. */
const maxCopiedLength = 500_000
/** Copies of cells of one table, empty ones included. */
const maxCopies = 200_000

/** Repeats merged cells in every row and column that they cover, within bounds that no real table reaches. */
export interface CellCopies {
  /** The content for one more place; empty if there are too many. */
  copy(content: PhrasingContent[]): PhrasingContent[]
  /**
   * Adds a cell to a row, once for each column that it covers.
   *
   * @param span number of columns as the file states it
   */
  add(row: PhrasingContent[][], content: PhrasingContent[], span: number): void
}

export function createCellCopies(): CellCopies {
  let length = 0
  let copies = 0
  const copy = (content: PhrasingContent[]): PhrasingContent[] => {
    copies += 1
    // Before the content is measured: that of one cell may be most of the document.
    if (length > maxCopiedLength || copies > maxCopies) return []
    length += content.reduce((sum, node) => sum + plainText(node).length + 1, 0)
    return length > maxCopiedLength ? [] : content
  }
  return {
    copy,
    add(row, content, span) {
      const columns = spanOf(span)
      if (row.length < maxColumns) row.push(content)
      for (let extra = 1; extra < columns && row.length < maxColumns; extra += 1) {
        if (copies > maxCopies) return
        row.push(copy(content))
      }
    },
  }
}

/** A number of rows or columns that a cell covers; 1 for any other text. */
export function spanOf(value: number): number {
  return Number.isInteger(value) && value > 1 ? Math.min(value, maxSpan) : 1
}

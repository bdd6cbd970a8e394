import { ExtractionError } from '../document/extraction.js'
import type { SheetRow } from './sheet-tables.js'

/** Cells of all rows, empty ones up to the last one with text included. */
const maxSlots = 16_000_000
/** Cells that merged ones cover and that get their text, and rows in which they are looked for. */
const maxCovered = 2_000_000
/** Longer texts are not repeated: they are no names of rows or columns. */
const maxRepeatedLength = 500

/** A rectangle of cells: rows from 1, columns from 0. */
export interface Range {
  top: number
  left: number
  bottom: number
  right: number
}

/** A row with the number under which the program shows it. */
export interface NumberedRow extends SheetRow {
  cells: string[]
  number: number
}

/**
 * Bounds the rows of a sheet, which are as long as the last cell with text is far to the right.
 *
 * @param slots cells of the rows so far
 * @throws ExtractionError if they are too many
 */
export function requireDense(slots: number): void {
  if (slots <= maxSlots) return
  throw new ExtractionError(
    'too_large',
    'The document has a sheet with cells so far to the right that its rows have more than ' +
      `${maxSlots.toLocaleString('en')} cells. Remove the cells far to the right, or split the document into several files.`,
  )
}

/** Gives the text of merged cells to all cells that they cover, in rows that have a text of their own. */
export function fillMerged(
  rows: readonly NumberedRow[],
  merged: readonly Range[],
  count: (text: string) => void,
): void {
  if (merged.length === 0) return
  const width = rows.reduce((most, row) => Math.max(most, row.cells.length), 0)
  const byNumber = new Map(rows.map((row, at) => [row.number, at]))
  let covered = 0
  for (const { top, left, bottom, right } of merged) {
    const first = byNumber.get(top) ?? rows.length
    const text = rows[first]?.cells[left] ?? ''
    for (let at = first; at < rows.length; at += 1) {
      const row = rows[at]
      if (row === undefined || row.number > bottom) break
      covered += 1
      if (covered > maxCovered) return
      row.filled ??= row.cells.filter((cell) => cell !== '').length
      if (text.length > maxRepeatedLength) continue
      if (at > first) row.filled += 1
      for (let column = left; column <= Math.min(right, width - 1); column += 1) {
        covered += 1
        if (covered > maxCovered) return
        if ((row.cells[column] ?? '') !== '') continue
        while (row.cells.length < column) row.cells.push('')
        row.cells[column] = text
        count(text)
      }
    }
  }
}

/** Rows with an empty one wherever the sheet has empty ones, unless a merged cell goes on there. */
export function withGaps(rows: readonly NumberedRow[], merged: readonly Range[]): SheetRow[] {
  const tall = merged.filter(({ top, bottom }) => bottom > top).toSorted((a, b) => a.top - b.top)
  const result: SheetRow[] = []
  let next = 0
  let covered = 0
  let last: number | undefined
  for (const row of rows) {
    for (
      let merge = tall[next];
      merge !== undefined && merge.top < row.number;
      merge = tall[next]
    ) {
      covered = Math.max(covered, merge.bottom)
      next += 1
    }
    if (last !== undefined && row.number > last + 1 && row.number > covered + 1) {
      result.push({ cells: [] })
    }
    result.push(row)
    last = row.number
  }
  return result
}

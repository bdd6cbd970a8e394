/** Share of the other rows that have a cell which a part of a row lacks. */
const FILLED = 0.9
/** Rows that tell what a whole one looks like. */
const LEAST_ROWS = 3
/** Characters of a cell of several lines, the only one that goes on after a page break. */
const LONG = 30

/**
 * Whether a row at the top of a page is the rest of the row at the bottom of the page before it: one of
 * both lacks a cell that nearly every other row has, and what both have is of a column of long texts.
 *
 * @param rows of the table on the page before, without its header
 */
export function isRestOfRow(rows: readonly string[][], next: readonly string[] = []): boolean {
  const last = rows.at(-1) ?? []
  const others = rows.slice(0, -1)
  if (next.length === 0 || others.length < LEAST_ROWS) return false
  const columns = last.map((cell, column) => {
    const texts = others.map((row) => row[column] ?? '')
    const filled = texts.filter((text) => text !== '').length >= others.length * FILLED
    const ends = [cell !== '', (next[column] ?? '') !== '']
    return { texts, filled, both: ends.every(Boolean), one: ends[0] !== ends[1] }
  })
  const isLong = (texts: readonly string[]) => texts.some((text) => text.length > LONG)
  return (
    columns.some(({ one, filled }) => one && filled) &&
    columns.every(({ both, texts }) => !both || isLong(texts))
  )
}

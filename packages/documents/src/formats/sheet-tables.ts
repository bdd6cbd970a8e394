import type { BlockContent } from 'mdast'
import { paragraph, table } from '../document/nodes.js'

/**
 * The tables of a sheet: empty rows separate them. Rows of one cell above a table are its caption, those
 * below it are remarks. Empty columns are left out.
 */
export function toTables(rows: readonly (readonly string[])[]): BlockContent[] {
  const blocks: BlockContent[] = []
  let open: (readonly string[])[] = []
  const close = () => {
    blocks.push(...toBlocks(open))
    open = []
  }
  for (const row of rows) {
    if (row.every((cell) => cell === '')) close()
    else open.push(row)
  }
  close()
  return blocks
}

function toBlocks(rows: readonly (readonly string[])[]): BlockContent[] {
  const isWide = (row: readonly string[]) => row.filter((cell) => cell !== '').length > 1
  const first = rows.findIndex(isWide)
  if (first === -1) return singleColumn(rows)
  const last = rows.findLastIndex(isWide)
  return [
    ...singleColumn(rows.slice(0, first)),
    table(withoutEmptyColumns(rows.slice(first, last + 1))),
    ...singleColumn(rows.slice(last + 1)),
  ]
}

/** Rows of one cell each. Many of them are a list that was typed into a column. */
function singleColumn(rows: readonly (readonly string[])[]): BlockContent[] {
  const texts = rows.map((row) => row.find((cell) => cell !== '') ?? '')
  if (texts.length < 4) return texts.map((text) => paragraph(text))
  const children = texts.map((text) => ({
    type: 'listItem' as const,
    children: [paragraph(text)],
  }))
  return [{ type: 'list', ordered: false, spread: false, children }]
}

function withoutEmptyColumns(rows: readonly (readonly string[])[]): string[][] {
  const used = new Set<number>()
  for (const row of rows) {
    row.forEach((cell, column) => {
      if (cell !== '') used.add(column)
    })
  }
  const columns = [...used].sort((a, b) => a - b)
  return rows.map((row) => columns.map((column) => row[column] ?? ''))
}

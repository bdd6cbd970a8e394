import type { Span } from './table-rows.js'

interface Grid {
  rows: string[][]
  columns: readonly Span[]
}

/**
 * Brings together what is one column and looks like two: its name is centred or stands at the other end
 * than its cells, so that nothing of it stands above them.
 */
export function joinShiftedHeaders({ rows, columns }: Grid): Grid {
  const at = columns.findIndex((_, column) => isShifted(rows, column))
  if (at === -1) return { rows, columns }
  const joined = rows.map((row) => [
    ...row.slice(0, at),
    row[at] === '' ? (row[at + 1] ?? '') : (row[at] ?? ''),
    ...row.slice(at + 2),
  ])
  const [left, right] = [columns[at], columns[at + 1]]
  const span = { x0: left?.x0 ?? 0, x1: right?.x1 ?? 0 }
  return joinShiftedHeaders({
    rows: joined,
    columns: [...columns.slice(0, at), span, ...columns.slice(at + 2)],
  })
}

/** Whether of a column and the next one has only a name, and the other one only cells. */
function isShifted([header = [], ...body]: readonly string[][], at: number): boolean {
  if (at + 1 >= header.length || body.length === 0) return false
  return isNameOf(at, at + 1) || isNameOf(at + 1, at)

  function isNameOf(name: number, cells: number): boolean {
    const isNamed = header[name] !== '' && header[cells] === ''
    return isNamed && body.every((row) => row[name] === '') && body.some((row) => row[cells] !== '')
  }
}

import { readingOrder } from './columns.js'
import { toRows } from './rows.js'
import type { Segment, SetText } from './segments.js'
import type { SetTable } from './tagged-tables.js'

/** What stands side by side on a page, from the left to the right or as its script is written. */
export interface Line extends SetText {
  segments: Segment[]
  /** Ends of the column that the line is in. */
  left: number
  right: number
  /** From 1. */
  page: number
  /** Whether it is the first line of its column. */
  opensColumn: boolean
  /** The table that it stands for. */
  table?: SetTable
}

const MARKER = /^(?:[•▪■‣◦●○–·∙*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])$/

/** The lines of a page in reading order. */
export function toLines(segments: readonly Segment[], page: number): Line[] {
  return readingOrder(segments).flatMap((column) => {
    const left = Math.min(...column.map((segment) => segment.x0))
    const right = Math.max(...column.map((segment) => segment.x1))
    return toRows(column)
      .flatMap(withTablesAlone)
      .map((row, index) => ({
        ...toLine(row),
        left,
        right,
        page,
        opensColumn: index === 0,
      }))
  })
}

/** A table that is known as such is a line of its own, whatever begins beside it. */
function withTablesAlone(row: readonly Segment[]): Segment[][] {
  const texts = row.filter(({ table }) => table === undefined)
  const tables = row.filter(({ table }) => table !== undefined)
  return [...(texts.length > 0 ? [texts] : []), ...tables.map((table) => [table])]
}

function toLine(row: readonly Segment[]): Omit<Line, 'left' | 'right' | 'page' | 'opensColumn'> {
  const sorted = withMarkers([...row].sort((a, b) => a.x0 - b.x0))
  const isReversed = sorted.every((segment) => segment.rightToLeft)
  if (isReversed) sorted.reverse()
  const main = sorted.reduce((most, each) => (each.text.length > most.text.length ? each : most))
  return {
    segments: sorted,
    text: sorted.map((segment) => segment.text.trim()).join(' '),
    x0: Math.min(...sorted.map((segment) => segment.x0)),
    x1: Math.max(...sorted.map((segment) => segment.x1)),
    y: main.y,
    size: main.size,
    font: main.font,
    uniform: sorted.every((segment) => segment.uniform && segment.font === main.font),
    monospace: sorted.every((segment) => segment.monospace),
    ...(main.table !== undefined && { table: main.table }),
  }
}

/** The mark of a list item is part of its text, however far away it stands. */
function withMarkers(segments: Segment[]): Segment[] {
  const [first, second, ...rest] = segments
  if (first === undefined || second === undefined || !MARKER.test(first.text.trim()))
    return segments
  const text = `${first.text.trim()} ${second.text}`
  return [{ ...second, text, x0: first.x0, joints: [] }, ...rest]
}

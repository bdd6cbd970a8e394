import {
  comparePositions,
  type LogPosition,
  type LogRange,
  type LogSelection,
  type LogSource,
  positionOf,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'

/** The start, direction and end of a walk. */
export interface WalkRequest {
  selection: LogSelection
  period: Period
  /** The position after which the walk begins; undefined to begin with the newest line. */
  after: LogPosition | undefined
  /** Work that the walk may take: about one per line. */
  budget: number
  /** Called with each line, newest first; false ends the walk. */
  take(line: WorkspaceLogLine): boolean
}

/** A range on the way: the lines of it that were read and are still ahead. */
interface Cursor {
  source: LogSource
  range: LogRange
  lines: WorkspaceLogLine[]
  /** Number of the next line in `lines`. */
  next: number
  /** Number of lines that the last read requested. */
  asked: number
  /** Position of the next line, or one that is not older while that is unknown. */
  head: LogPosition
}

const firstChunk = 20
const maxChunkLength = 1000
/** Work of a query, in lines. */
const queryWeight = 20
/** End of a period without one: bots may have clocks that are ahead, so that the present is no end. */
export const endless = '9999'
/** Sorts after every id. */
const afterEveryId = '\u{10ffff}'

/**
 * Merges the ranges of all logs, newest lines first. Ranges are read in chunks and only when it is their
 * turn, so that a page costs little however many bots there are.
 * @returns the position of the last line that was considered if the budget is used up; undefined at the end
 */
export async function walkLines(
  db: Db,
  sources: readonly LogSource[],
  { selection, period, after, budget, take }: WalkRequest,
): Promise<LogPosition | undefined> {
  let left = budget
  const cursors: Cursor[] = []
  for (const source of sources) {
    for (const range of await source.findRanges(db, selection, behind(period, after))) {
      const head = { time: range.newest, id: afterEveryId }
      insert(cursors, { source, range, lines: [], next: 0, asked: 0, head })
    }
  }
  let last = after
  for (let cursor = cursors.pop(); cursor !== undefined; cursor = cursors.pop()) {
    const line = cursor.lines[cursor.next]
    if (line !== undefined) {
      last = positionOf(line)
      if (!take(line)) return undefined
      cursor.next += 1
      const following = cursor.lines[cursor.next]
      if (following !== undefined) insert(cursors, { ...cursor, head: positionOf(following) })
      // A short chunk was the last one of its range.
      else if (cursor.lines.length === cursor.asked) insert(cursors, { ...cursor, head: last })
      continue
    }
    if (left <= 0 && last !== after) return last
    const { source, range } = cursor
    const asked = Math.min(Math.max(firstChunk, cursor.asked * 3), maxChunkLength)
    const read = cursor.lines.at(-1)
    const lines = await source.read(db, range, period, read ? positionOf(read) : after, asked)
    left -= queryWeight + lines.length * source.weight
    const [first] = lines
    if (first === undefined) continue
    insert(cursors, { source, range, lines, next: 0, asked, head: positionOf(first) })
    if (lines.length > maxChunkLength / 4) await pause()
  }
  return undefined
}

/** The part of a period that may have lines after a position. */
function behind({ since, before }: Period, after: LogPosition | undefined): Period {
  // Lines of the same moment may come after it: this text sorts after that time only.
  const end = after && `${after.time}~`
  return { since, before: end !== undefined && end < before ? end : before }
}

/** Inserts a cursor so that the one with the newest head is last. */
function insert(cursors: Cursor[], cursor: Cursor): void {
  let [low, high] = [0, cursors.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = cursors[middle]
    if (other !== undefined && comparePositions(other.head, cursor.head) < 0) low = middle + 1
    else high = middle
  }
  cursors.splice(low, 0, cursor)
}

/** Lets other work of the process run between two chunks. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

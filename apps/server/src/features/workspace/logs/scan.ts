import {
  comparePositions,
  type LogPosition,
  type LogReader,
  type LogSelection,
  positionOf,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'

/** Start and limits of a scan. */
interface ScanRequest {
  selection: LogSelection
  period: Period
  /** The position after which the scan begins; undefined to begin with the newest line. */
  after: LogPosition | undefined
  /** Work that the scan may take: about one per line. */
  budget: number
  /** Called with each line, newest first; false ends the scan. */
  take(line: WorkspaceLogLine): boolean
}

const firstChunk = 60
const maxChunk = 1000
/** Work of a query, in lines. */
const queryWeight = 20
/** End of a period without one: bots may have clocks that are ahead, so that the present is no end. */
export const endless = '9999'

/**
 * Reads the logs of a workspace, newest lines first, in chunks.
 * @returns the position of the last line that was considered if the budget is used up; undefined at the end
 */
export async function scanLines(
  db: Db,
  readers: readonly LogReader[],
  { selection, period, after, budget, take }: ScanRequest,
): Promise<LogPosition | undefined> {
  let position = after
  let left = budget
  for (let limit = firstChunk; ; limit = Math.min(limit * 3, maxChunk)) {
    const read: WorkspaceLogLine[] = []
    /** Up to where all readers have read; undefined if all are at their ends. */
    let reached: LogPosition | undefined
    for (const { read: readLines, weight } of readers) {
      const lines = await readLines(db, selection, period, position, limit)
      left -= queryWeight + lines.length * weight
      read.push(...lines)
      const last = lines.length < limit ? undefined : lines.at(-1)
      if (last && (!reached || comparePositions(reached, positionOf(last)) < 0)) {
        reached = positionOf(last)
      }
    }
    read.sort((one, other) => comparePositions(positionOf(other), positionOf(one)))
    for (const line of read) {
      // Other readers may have lines behind this position.
      if (reached && comparePositions(positionOf(line), reached) < 0) break
      position = positionOf(line)
      if (!take(line)) return undefined
    }
    if (!reached) return undefined
    if (left <= 0) return position
    // Lets other work of the process run between two chunks.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

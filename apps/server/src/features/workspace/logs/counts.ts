import type { LogLevel, LogReader } from '../../../domain/log-lines.js'
import { isoTime } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'
import type { PreparedFilter } from './filter.js'
import { scanLines } from './scan.js'

/** Equal parts of a range of time. Milliseconds since the Unix epoch. */
export interface Buckets {
  from: number
  /** Not included. */
  to: number
  /** Length of a bucket; each begins at a multiple of it. */
  length: number
}

/** Counts by the beginning of the bucket. */
export interface CountedLogs {
  counts: Map<number, Record<LogLevel, number>>
  /** ISO 8601 time from which on the counts are complete; undefined if all are. */
  countedFrom: string | undefined
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** Lengths that a bucket may have, except for those of more than a day. */
const lengths = [
  ...[1, 10, 100].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[second, minute].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((many) => many * unit)),
  ...[1, 2, 3, 6, 12, 24].map((many) => many * hour),
]

/**
 * Divides a range into at most `max` buckets. It begins in 1970 at the earliest: buckets of any length begin at that
 * moment, so that a longer range would never be a single one, and no line is older.
 */
export function bucketsOf(since: number, before: number, max: number): Buckets {
  const from = Math.max(0, since)
  const to = Math.max(from + 1, before)
  const fits = (length: number) => startsOf({ from, to, length }, max + 1).length <= max
  const usual = lengths.find(fits)
  if (usual !== undefined) return { from, to, length: usual }
  let days = Math.ceil((to - from) / day / max)
  // The begin of a range cuts its first bucket short, so that there may be one too many.
  while (!fits(days * day)) days += Math.ceil(days / 100)
  return { from, to, length: days * day }
}

/** Starts of the buckets, oldest first; of very many the first `limit`. */
export function startsOf({ from, to, length }: Buckets, limit = Number.MAX_SAFE_INTEGER): number[] {
  const starts: number[] = []
  let start = Math.floor(from / length) * length
  for (; start < to && starts.length < limit; start += length) starts.push(start)
  return starts
}

/** Lines that are counted at most: more of them would take too long. */
const maxCounted = 3_000_000
/** Counts of one query. */
const countsAtOnce = 1000
/** Work where each line must be read. */
const readingBudget = 40_000

/** Makes the function that counts the lines of a filter by bucket and level. */
export function createCounts(db: Db, readers: readonly LogReader[]) {
  /** Counts in the indexes, the newest buckets first. */
  async function countRanges(
    { selection }: PreparedFilter,
    buckets: Buckets,
    counts: CountedLogs['counts'],
  ): Promise<string | undefined> {
    const atOnce = Math.max(1, Math.floor(countsAtOnce / (3 * selection.levels.size)))
    const periods = startsOf(buckets)
      .toReversed()
      .map((start) => periodOf(buckets, start))
    let total = 0
    for (let at = 0; at < periods.length; at += atOnce) {
      const some = periods.slice(at, at + atOnce)
      if (total > maxCounted) return periods[at]?.before
      for (const { count: countLines } of readers) {
        for (const { level, since, count } of await countLines(db, selection, some)) {
          add(counts, buckets, Date.parse(since), level, count)
          total += count
        }
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    return undefined
  }

  /** Reads the lines, newest first. */
  async function countRead(
    { selection, matches }: PreparedFilter,
    buckets: Buckets,
    counts: CountedLogs['counts'],
  ): Promise<string | undefined> {
    const reached = await scanLines(db, readers, {
      selection,
      period: { since: isoTime(buckets.from), before: isoTime(buckets.to) },
      after: undefined,
      budget: readingBudget,
      take: (line) => {
        if (matches(line)) add(counts, buckets, Date.parse(line.createdAt), line.level, 1)
        return true
      },
    })
    return reached?.time
  }

  return async (filter: PreparedFilter, buckets: Buckets): Promise<CountedLogs> => {
    const counts: CountedLogs['counts'] = new Map()
    const count = filter.isCountable ? countRanges : countRead
    return { counts, countedFrom: await count(filter, buckets, counts) }
  }
}

function periodOf({ from, to, length }: Buckets, start: number): Period {
  return {
    since: isoTime(Math.max(from, start)),
    before: isoTime(Math.min(to, start + length)),
  }
}

function add(
  counts: CountedLogs['counts'],
  { length }: Buckets,
  time: number,
  level: LogLevel,
  count: number,
): void {
  const start = Math.floor(time / length) * length
  const bucket = counts.get(start) ?? { debug: 0, info: 0, warn: 0, error: 0 }
  bucket[level] += count
  counts.set(start, bucket)
}

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { dialectOf } from './dialect.js'

/**
 * An index over some columns and, behind them, a time: the rows with equal values in those columns are a
 * range of it, in the order of time. All columns are texts.
 */
export interface TimeIndex {
  readonly table: string
  readonly columns: readonly string[]
  /** Column with the time. */
  readonly time: string
  /** Condition of a partial index. */
  readonly where?: RawBuilder<SqlBool>
}

/** The values of the columns that identify a range. */
export type RangeKey = Readonly<Record<string, string>>

/** From the first time on, before the second; ISO 8601. */
export interface Period {
  readonly since: string
  readonly before: string
}

/** The time of the newest row of each range within a period; ranges without one are left out. */
export async function newestInRanges<DB>(
  db: Kysely<DB>,
  index: TimeIndex,
  keys: readonly RangeKey[],
  { since, before }: Period,
): Promise<{ key: RangeKey; newest: string }[]> {
  if (keys.length === 0) return []
  const time = sql.ref(`t.${index.time}`)
  const { rows } = await sql<{ number: number; newest: string | null }>`
    select given.number, (
      select max(${time}) from ${sql.table(index.table)} as t
      where ${isInRange(index)} and ${time} >= ${since} and ${time} < ${before}
    ) as newest
    from ${givenRanges(db, index, keys, [])}
  `.execute(db)
  return rows.flatMap(({ number, newest }) => {
    const key = keys[Number(number)]
    return newest === null || key === undefined ? [] : [{ key, newest }]
  })
}

/**
 * Counts the rows of ranges in periods, at most `max` in each; the results are in the order of `wanted`.
 * The index alone is read.
 */
export async function countInRanges<DB>(
  db: Kysely<DB>,
  index: TimeIndex,
  wanted: readonly { key: RangeKey; period: Period }[],
  max?: number,
): Promise<number[]> {
  if (wanted.length === 0) return []
  const time = sql.ref(`t.${index.time}`)
  const inPeriod = sql`
    from ${sql.table(index.table)} as t
    where ${isInRange(index)} and ${time} >= given.since and ${time} < given.before`
  const count =
    max === undefined
      ? sql`(select count(*) ${inPeriod})`
      : sql`(select count(*) from (select 1 ${inPeriod} limit ${max}) as found)`
  const { rows } = await sql<{ number: number; count: number }>`
    select given.number, ${count} as count
    from ${givenRanges(
      db,
      index,
      wanted.map(({ key }) => key),
      wanted.map(({ period }) => period),
    )}
  `.execute(db)
  const counts = new Array<number>(wanted.length).fill(0)
  for (const { number, count } of rows) counts[Number(number)] = Number(count)
  return counts
}

/** All times. */
const always: Period = { since: '0000', before: '9999' }

/** Counts the rows of each range, at most `max` in each. */
export async function countUpTo<DB>(
  db: Kysely<DB>,
  index: TimeIndex,
  keys: readonly RangeKey[],
  max: number,
): Promise<number[]> {
  return await countInRanges(
    db,
    index,
    keys.map((key) => ({ key, period: always })),
    max,
  )
}

/** A number of rows, up to a bound. */
export interface UpTo {
  count: number
  /** False if there are more. */
  isExact: boolean
}

/** Rows of each range that are counted before it is known which ranges are large. */
const firstCount = 1000

/** Counts the rows of all ranges together, up to `max`. */
export async function sumUpTo<DB>(
  db: Kysely<DB>,
  index: TimeIndex,
  keys: readonly RangeKey[],
  max: number,
): Promise<UpTo> {
  const first = await countUpTo(db, index, keys, firstCount)
  let count = first.reduce((sum, each) => sum + each, 0)
  for (const [at, key] of keys.entries()) {
    if (count > max) break
    if ((first[at] ?? 0) < firstCount) continue
    const [whole = 0] = await countUpTo(db, index, [key], max - count + firstCount + 1)
    count += whole - firstCount
  }
  return { count: Math.min(count, max), isExact: count <= max }
}

function isInRange({ columns, where }: TimeIndex): RawBuilder<SqlBool> {
  const equal = columns.map(
    (name) => sql<SqlBool>`${sql.ref(`t.${name}`)} = ${sql.ref(`given.${name}`)}`,
  )
  return sql.join<SqlBool>(where ? [...equal, where] : equal, sql` and `) as RawBuilder<SqlBool>
}

/** The ranges as a table `given` with their numbers, so that a list of any length is one parameter. */
function givenRanges<DB>(
  db: Kysely<DB>,
  { columns }: TimeIndex,
  keys: readonly RangeKey[],
  periods: readonly Period[],
) {
  const kinds: Record<string, 'text' | 'integer'> = { number: 'integer' }
  for (const name of columns) kinds[name] = 'text'
  if (periods.length > 0) Object.assign(kinds, { since: 'text', before: 'text' })
  const records = keys.map((key, number) => ({ number, ...key, ...periods[number] }))
  return dialectOf(db).jsonRecords<Record<string, string | number>>(
    sql`${JSON.stringify(records)}`,
    kinds,
  )
}

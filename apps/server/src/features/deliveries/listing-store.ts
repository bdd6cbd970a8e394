import { sql } from 'kysely'
import { timeOf } from '../../domain/times.js'
import { dialectOf } from '../../platform/db/dialect.js'
import type { Page, PageRequest, Position } from '../../platform/db/paginate.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { eventSubjects } from '../conversations/events/index.js'
import { queueOf } from './queue-store.js'
import type { DeliveryRow, ReceiverColumns } from './store.js'

/**
 * Lists of deliveries. A list is merged from ranges of an index that are in its order already: one
 * for each receiver and status, or one for each queue of a conversation. So a page reads about as
 * many rows as it has, however many deliveries there are.
 */

/** The conditions of the two indexes; literals, so that both engines see which index applies. */
const isPending = sql`d.status = 'pending'`
const isFinished = sql`d.status <> 'pending'`

/** Position in a list, as the indexes have it: by age, and then by id. */
const position = sql<string>`(d.created_at || '/' || d.id)`

export type DeliveryStatus = DeliveryRow['status']

const allStatuses: readonly DeliveryStatus[] = ['pending', 'delivered', 'failed', 'canceled']

/** Restricts a list of deliveries to some receivers; undefined for anything. */
export interface ListFilter {
  statuses?: readonly DeliveryStatus[] | undefined
  kind?: DeliveryRow['kind'] | undefined
  eventType?: string | undefined
  conversationId?: string | undefined
  /** ISO 8601 times in UTC with milliseconds: from the first on, before the second. */
  since?: string | undefined
  until?: string | undefined
}

/**
 * The range of time of a filter, as the store compares it.
 * @throws ApiError `InvalidQuery` for a time that does not exist, such as a leap second
 */
export function inUtc({ since, until }: Pick<ListFilter, 'since' | 'until'>) {
  return {
    since: timeOf('since', since, 'beginning'),
    until: timeOf('until', until, 'end'),
  }
}

/** The receivers that have deliveries, of the given bots. */
export async function listReceiversOf(
  db: Db | Tx,
  botIds: readonly string[],
): Promise<ReceiverColumns[]> {
  if (botIds.length === 0) return []
  const found = new Map<string, ReceiverColumns>()
  for (const part of [isPending, isFinished]) {
    // Each receiver is found by one step in the index, however many deliveries the previous one has.
    const next = (bot: string, behind = sql``) => sql`(
      select d.integration from deliveries as d
      where d.bot_id = ${sql.ref(bot)} ${behind} and ${part}
      order by d.integration limit 1)`
    const given = dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`)
    const { rows } = await sql<ReceiverColumns>`
      with recursive receiver(bot_id, integration) as (
        select given.value, ${next('given.value')} from ${given}
        union all
        select receiver.bot_id,
          ${next('receiver.bot_id', sql`and d.integration > receiver.integration`)}
        from receiver where receiver.integration is not null)
      select bot_id, integration from receiver where integration is not null`.execute(db)
    for (const row of rows) found.set(`${row.bot_id}/${row.integration}`, row)
  }
  return [...found.values()]
}

/** A range of an index, in the order of the list. */
interface Range extends ReceiverColumns {
  status: string
  order_key: string
}

const rangeKinds = {
  bot_id: 'text',
  integration: 'text',
  status: 'text',
  order_key: 'text',
} as const

/** The ranges that contain a list. */
interface Ranges {
  pending: Range[]
  finished: Range[]
  /** Statuses of finished ones of a queue; those of a receiver are parts of its ranges. */
  statuses: readonly DeliveryStatus[]
  areQueues: boolean
}

function rangesOf(receivers: readonly ReceiverColumns[], filter: ListFilter): Ranges {
  const { conversationId, kind, eventType } = filter
  const statuses = [...new Set(filter.statuses?.length ? filter.statuses : allStatuses)]
  const finished = statuses.filter((status) => status !== 'pending')
  const areEvents = kind === 'event_received' || eventType !== undefined
  // Events are for bots, and everything else is for installations.
  const concerned = receivers.filter(
    ({ integration }) =>
      (integration === '' || !areEvents) && (integration !== '' || kind === undefined || areEvents),
  )
  const rangeOf = ({ bot_id, integration }: ReceiverColumns, status: string): Range => ({
    bot_id,
    integration,
    status,
    order_key: queueOf(bot_id, integration, conversationId ?? ''),
  })
  const each = (wanted: readonly DeliveryStatus[]) =>
    concerned.flatMap((receiver) => wanted.map((status) => rangeOf(receiver, status)))
  const areQueues = conversationId !== undefined
  return {
    pending: statuses.includes('pending') ? each(['pending']) : [],
    finished: areQueues && finished.length > 0 ? each(['delivered']) : each(finished),
    statuses: finished,
    areQueues,
  }
}

/** The conditions that select the rows of a range. */
function inRange({ areQueues, statuses }: Ranges, part: 'pending' | 'finished') {
  const isPart = part === 'pending' ? isPending : isFinished
  if (!areQueues) {
    const ofStatus = part === 'finished' ? sql`and d.status = given.status` : sql``
    return sql`d.bot_id = given.bot_id and d.integration = given.integration and ${isPart} ${ofStatus}`
  }
  const ofStatus = part === 'finished' ? sql`and d.status in (${sql.join(statuses)})` : sql``
  // The name of a queue begins with its bot.
  return sql`d.order_key = given.order_key and ${isPart} ${ofStatus}`
}

function inTime({ since, until }: ListFilter) {
  return sql`${since === undefined ? sql`` : sql`and ${position} >= ${since}`}
    ${until === undefined ? sql`` : sql`and ${position} < ${until}`}`
}

/** Maximum number of ranges that are read beyond their first rows. */
const maxWholeRanges = 60

/** Positions in the order of the list, at most `limit`. */
async function listPositions(
  db: Db | Tx,
  ranges: Ranges,
  filter: ListFilter,
  {
    direction,
    after,
    limit,
  }: Pick<PageRequest, 'direction'> & { after: Position | undefined; limit: number },
): Promise<Position[]> {
  const { jsonArrayOf, jsonRecords } = dialectOf(db)
  const order = direction === 'asc' ? sql`asc` : sql`desc`
  const behind =
    after === undefined
      ? sql``
      : sql`and ${position} ${direction === 'asc' ? sql`>` : sql`<`} ${`${after.value}/${after.id}`}`
  const compare = comparing(direction)

  /** The first positions of each range, at most `max`. */
  async function firstOf(
    parts: Pick<Ranges, 'pending' | 'finished'>,
    max: number,
  ): Promise<{ range: Range; positions: Position[] }[]> {
    const selects = (['pending', 'finished'] as const).flatMap((part) => {
      if (parts[part].length === 0) return []
      const positions = jsonArrayOf(sql<string>`first.position`)
      return [
        sql`select given.bot_id, given.integration, given.status, given.order_key, (
          select ${positions} from (
            select ${position} as position from deliveries as d
            where ${inRange(ranges, part)} ${inTime(filter)} ${behind}
            order by ${position} ${order} limit ${max}) as first) as positions
        from ${jsonRecords<Range>(sql`${JSON.stringify(parts[part])}`, rangeKinds)}`,
      ]
    })
    if (selects.length === 0) return []
    // One statement, so that no delivery is missed that ends meanwhile.
    const { rows } = await sql<Range & { positions: string }>`
      ${sql.join(selects, sql` union all `)}`.execute(db)
    return rows.map(({ positions, ...range }) => {
      const texts: string[] = JSON.parse(positions)
      return { range, positions: texts.map(positionOf).sort(compare) }
    })
  }

  let parts: Pick<Ranges, 'pending' | 'finished'> = ranges
  if (ranges.pending.length + ranges.finished.length > maxWholeRanges) {
    const heads = (await firstOf(ranges, 1)).flatMap(({ range, positions: [head] }) =>
      head === undefined ? [] : [{ range, head }],
    )
    heads.sort((one, other) => compare(one.head, other.head))
    // Others begin behind the end of the page.
    const first = heads.slice(0, limit).map(({ range }) => range)
    parts = {
      pending: first.filter(({ status }) => status === 'pending'),
      finished: first.filter(({ status }) => status !== 'pending'),
    }
  }
  const all = (await firstOf(parts, limit)).flatMap(({ positions }) => positions)
  return all.sort(compare).slice(0, limit)
}

function positionOf(text: string): Position {
  const slash = text.indexOf('/')
  return { value: text.slice(0, slash), id: text.slice(slash + 1) }
}

function comparing(direction: 'asc' | 'desc') {
  const sign = direction === 'asc' ? 1 : -1
  return (one: Position, other: Position): number => {
    if (one.value !== other.value) return one.value < other.value ? -sign : sign
    return one.id === other.id ? 0 : one.id < other.id ? -sign : sign
  }
}

/** Whether every row of the ranges matches; otherwise the rows have to be looked at. */
function isExact({ kind, eventType }: ListFilter): boolean {
  return eventType === undefined && (kind === undefined || kind === 'event_received')
}

/** The condition on rows of ranges that are not exact. */
function matching(db: Db | Tx, { kind, eventType }: ListFilter) {
  const ofKind = kind === undefined ? sql`` : sql`and d.kind = ${kind}`
  if (eventType === undefined) return ofKind
  const events = eventSubjects(db).where('type', '=', eventType)
  return sql`${ofKind} and exists (
    select 1 from (${events}) as e where e.id = d.subject_id and e.bot_id = d.bot_id)`
}

/** Rows of the given positions that match the filter, in the same order. */
async function findAt(
  db: Db | Tx,
  positions: readonly Position[],
  filter: ListFilter,
): Promise<DeliveryRow[]> {
  if (positions.length === 0) return []
  const ids = JSON.stringify(positions.map(({ id }) => id))
  const { rows } = await sql<DeliveryRow>`
    select d.* from ${dialectOf(db).jsonTexts(sql`${ids}`)}
    cross join deliveries as d where d.id = given.value ${matching(db, filter)}`.execute(db)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return positions.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Positions that are looked at together, from few to many. */
const firstLook = 100
const maxLook = 5000

/**
 * A page of the deliveries to some receivers, sorted by `created_at`.
 * @param maxScanned rows after which a page ends although it is not full
 */
export async function pageOfReceivers(
  db: Db | Tx,
  receivers: readonly ReceiverColumns[],
  filter: ListFilter,
  page: PageRequest<'created_at'>,
  maxScanned = Number.POSITIVE_INFINITY,
): Promise<Page<DeliveryRow>> {
  const ranges = rangesOf(receivers, filter)
  const { direction, size } = page
  if (isExact(filter)) {
    const positions = await listPositions(db, ranges, filter, {
      direction,
      after: page.after,
      limit: size + 1,
    })
    const last = positions[size - 1]
    return {
      rows: await findAt(db, positions.slice(0, size), filter),
      nextToken: positions.length > size && last ? page.tokenAfter(last) : undefined,
    }
  }
  const rows: DeliveryRow[] = []
  let after = page.after
  for (let looked = 0, look = firstLook; ; look = Math.min(look * 4, maxLook)) {
    const limit = Math.min(look, maxScanned - looked)
    const positions = await listPositions(db, ranges, filter, { direction, after, limit })
    rows.push(...(await findAt(db, positions, filter)))
    looked += positions.length
    after = positions.at(-1) ?? after
    if (rows.length > size) break
    if (positions.length < limit) return { rows, nextToken: undefined }
    if (looked >= maxScanned) {
      return { rows, nextToken: after === undefined ? undefined : page.tokenAfter(after) }
    }
  }
  const last = rows[size - 1]
  return {
    rows: rows.slice(0, size),
    nextToken: last && page.tokenAfter({ value: last.created_at, id: last.id }),
  }
}

/** Number of deliveries with a status, up to a bound. */
export interface BoundedCount {
  count: number
  isExact: boolean
}

/**
 * Counts the rows of ranges that match. In rounds: each reads some rows of every range, and only ranges with more
 * are read again, so that a round reads about twice as many rows as are wanted, however many ranges there are.
 * @param max rows that are looked at; the count may be too low if there are more
 */
async function countRanges(
  db: Db | Tx,
  all: Ranges,
  part: 'pending' | 'finished',
  filter: ListFilter,
  max: number,
): Promise<BoundedCount> {
  const matches = isExact(filter)
    ? sql`1`
    : sql`case when true ${matching(db, filter)} then 1 else 0 end`
  let open: readonly Range[] = all[part]
  const done = { looked: 0, count: 0 }
  while (open.length > 0) {
    const limit = Math.min(Math.ceil((2 * max) / open.length), max) + 1
    const given = dialectOf(db).jsonRecords<Range>(sql`${JSON.stringify(open)}`, rangeKinds)
    const { rows } = await sql<Range & { counted: string }>`
      select given.bot_id, given.integration, given.status, given.order_key, (
        select count(*) || '/' || coalesce(sum(looked.matches), 0) from (
          select ${matches} as matches from deliveries as d
          where ${inRange(all, part)} ${inTime(filter)} limit ${limit}) as looked) as counted
      from ${given}`.execute(db)
    const counted = rows.map(({ counted: text, ...range }) => {
      const [looked = 0, count = 0] = text.split('/').map(Number)
      return { range, looked, count }
    })
    const sum = (part: typeof counted, of: 'looked' | 'count') =>
      part.reduce((total, each) => total + each[of], 0)
    const looked = done.looked + sum(counted, 'looked')
    if (looked > max) return { count: done.count + sum(counted, 'count'), isExact: false }
    const whole = counted.filter((each) => each.looked < limit)
    done.looked += sum(whole, 'looked')
    done.count += sum(whole, 'count')
    open = counted.filter((each) => each.looked === limit).map(({ range }) => range)
  }
  return { count: done.count, isExact: true }
}

/**
 * Counts deliveries to some receivers by status.
 * @param max where each count ends
 * @param maxScanned rows of a status that are looked at if they have to be
 */
export async function countOfReceivers(
  db: Db | Tx,
  receivers: readonly ReceiverColumns[],
  filter: ListFilter,
  { max, maxScanned }: { max: number; maxScanned: number },
): Promise<Record<DeliveryStatus, BoundedCount>> {
  const wanted = filter.statuses?.length ? filter.statuses : allStatuses
  const counts: Record<DeliveryStatus, BoundedCount> = {
    pending: { count: 0, isExact: true },
    delivered: { count: 0, isExact: true },
    failed: { count: 0, isExact: true },
    canceled: { count: 0, isExact: true },
  }
  for (const status of new Set(wanted)) {
    const ranges = rangesOf(receivers, { ...filter, statuses: [status] })
    const part = status === 'pending' ? 'pending' : 'finished'
    const bound = isExact(filter) ? max : maxScanned
    const { count, isExact: isWhole } = await countRanges(db, ranges, part, filter, bound)
    counts[status] = { count: Math.min(count, max), isExact: isWhole && count <= max }
  }
  return counts
}

/** Types of the events that are the subjects of deliveries, by the ids of the events. */
export async function findEventTypes(
  db: Db,
  rows: readonly Pick<DeliveryRow, 'kind' | 'subject_id'>[],
): Promise<Map<string, string>> {
  const ids = rows.flatMap(({ kind, subject_id }) => (kind === 'event_received' ? subject_id : []))
  if (ids.length === 0) return new Map()
  const given = dialectOf(db).jsonTexts(sql`${JSON.stringify(ids)}`)
  const found = await sql<{ id: string; type: string }>`
    select e.id, e.type from ${given}
    cross join (${eventSubjects(db)}) as e where e.id = given.value`.execute(db)
  return new Map(found.rows.map(({ id, type }) => [id, type]))
}

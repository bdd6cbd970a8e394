import { type RawBuilder, sql } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import type { Db } from '../../platform/db/schema.js'
import type { ReceiverRow } from './receiver-store.js'
import type { DeliveryRow, ReceiverColumns } from './store.js'

export { listReceivers } from './receiver-store.js'
export type ReceiverState = ReceiverRow

/** A delivery that was given up. */
export type FailedDelivery = Pick<
  DeliveryRow,
  'id' | 'bot_id' | 'integration' | 'last_error' | 'created_at' | 'updated_at'
>

/** The deliveries that wait for a receiver. */
export interface WaitingDeliveries extends ReceiverColumns {
  /** At most the bound that was asked for. */
  count: number
  /** Id and ISO 8601 time of the one that has waited longest. */
  oldest: { id: string; createdAt: string }
}

/** The order of lists of deliveries, in the form that their indexes have. */
const position = sql<string>`(d.created_at || '/' || d.id)`
const isWaiting = sql`d.status = 'pending'`
// The first condition is that of the partial index, which SQLite uses only where a query has it word for word.
const isFailed = sql`d.status <> 'pending' and d.status = 'failed'`
const isDelivered = sql`d.status <> 'pending' and d.status = 'delivered'`

/** Receivers of all bots that have failed lately or are paused: at most `limit`, and how many there are. */
export async function findTroubledReceivers(db: Db, limit: number) {
  const { count } = await db
    .selectFrom('delivery_receivers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where((eb) => eb.or([eb('failures', '>', 0), eb('paused', 'is not', null)]))
    .executeTakeFirstOrThrow()
  const rows = await db
    .selectFrom('delivery_receivers')
    .selectAll()
    .where((eb) => eb.or([eb('failures', '>', 0), eb('paused', 'is not', null)]))
    .orderBy('failing_since')
    .orderBy('bot_id')
    .limit(limit)
    .execute()
  return { count: Number(count), rows }
}

/** Lists the waiting deliveries of each receiver, without receivers that have none. */
export async function listWaiting(
  db: Db,
  receivers: readonly ReceiverColumns[],
  max: number,
): Promise<WaitingDeliveries[]> {
  const rows = await perReceiver<{ oldest: string | null; count: number }>(db, receivers, {
    oldest: sql`select ${position} from deliveries as d
      where ${ofGiven} and ${isWaiting} order by ${position} limit 1`,
    count: sql`select count(*) from (
      select 1 from deliveries as d where ${ofGiven} and ${isWaiting} limit ${max}) as found`,
  })
  return rows.flatMap(({ bot_id, integration, oldest, count }) => {
    if (oldest === null) return []
    const [createdAt = '', id = ''] = oldest.split('/')
    return { bot_id, integration, count: Number(count), oldest: { id, createdAt } }
  })
}

/** Failed deliveries to each receiver, created since an ISO 8601 time: the newest, at most `max` of each. */
export async function listFailed(
  db: Db,
  receivers: readonly ReceiverColumns[],
  since: string,
  max: number,
): Promise<FailedDelivery[]> {
  const { jsonArrayOf, jsonTexts } = dialectOf(db)
  const rows = await perReceiver<{ positions: string }>(db, receivers, {
    positions: sql`select ${jsonArrayOf(sql<string>`newest.position`)} from (
      select ${position} as position from deliveries as d
      where ${ofGiven} and ${isFailed} and ${position} >= ${since}
      order by ${position} desc limit ${max}) as newest`,
  })
  const ids = rows.flatMap(({ positions }) =>
    (JSON.parse(positions) as string[]).map((text) => text.slice(text.indexOf('/') + 1)),
  )
  if (ids.length === 0) return []
  return await db
    .selectFrom(jsonTexts(sql`${JSON.stringify(ids)}`))
    .crossJoin('deliveries as d')
    .whereRef('d.id', '=', 'given.value')
    .select(['d.id', 'd.bot_id', 'd.integration', 'd.last_error', 'd.created_at', 'd.updated_at'])
    .execute()
}

/** Deliveries among which the last one that succeeded is looked for: a replay makes no newer delivery. */
const maxSuccesses = 20

/** Start of the last attempt that each receiver accepted, ISO 8601, without receivers that accepted none. */
export async function listSuccesses(
  db: Db,
  receivers: readonly ReceiverColumns[],
): Promise<(ReceiverColumns & { began: string })[]> {
  const rows = await perReceiver<{ began: string | null }>(db, receivers, {
    began: sql`select max(a.started_at) from (
      select d.id, d.attempts from deliveries as d
      where ${ofGiven} and ${isDelivered}
      order by ${position} desc limit ${maxSuccesses}) as newest
      join delivery_attempts as a on a.delivery_id = newest.id and a.number = newest.attempts`,
  })
  return rows.flatMap(({ began, ...row }) => (began === null ? [] : [{ ...row, began }]))
}

const ofGiven = sql`d.bot_id = given.bot_id and d.integration = given.integration`

/** Evaluates subqueries for each receiver. */
async function perReceiver<Values>(
  db: Db,
  receivers: readonly ReceiverColumns[],
  subqueries: Record<keyof Values & string, RawBuilder<unknown>>,
): Promise<(ReceiverColumns & Values)[]> {
  if (receivers.length === 0) return []
  const columns = Object.entries<RawBuilder<unknown>>(subqueries).map(
    ([name, query]) => sql`(${query}) as ${sql.ref(name)}`,
  )
  const given = dialectOf(db).jsonRecords<ReceiverColumns>(sql`${JSON.stringify(receivers)}`, {
    bot_id: 'text',
    integration: 'text',
  })
  const { rows } = await sql<ReceiverColumns & Values>`
    select given.bot_id, given.integration, ${sql.join(columns)} from ${given}`.execute(db)
  return rows
}

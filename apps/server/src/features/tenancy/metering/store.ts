import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { BotReach } from '../../../domain/rights.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'

/** Counters, and sizes and numbers of objects. */
export type UsageKind =
  | 'user_messages'
  | 'bot_messages'
  | 'events'
  | 'action_calls'
  | 'listener_time'
  | 'hosted_time'
  | GaugeKind

/** Sizes and numbers of objects, as the hourly job stores them. */
export type GaugeKind =
  | 'storage'
  | 'vectors'
  | 'indexed_files'
  | 'bots'
  | 'members'
  | 'integrations'
  | 'always_alive'

/** The kinds that count towards the quota of messages and events, `invocation_calls`. */
export const callKinds = ['user_messages', 'events'] as const

export interface Count {
  botId: string
  kind: UsageKind
  day: string
  value: number
}

/** Makes the query for the workspace of a bot, for joins; its column is `workspace_id`. */
export type SelectWorkspaceOfBot = (
  db: Kysely<Schema>,
  botId: Expression<string>,
) => Expression<unknown>

/** Makes the statement that adds to a counter of a bot in its workspace; it returns no row if the bot was deleted. */
export function createAddToDay(workspaceOfBot: SelectWorkspaceOfBot) {
  return prepared<Count>()((db, p, dialect) =>
    db
      .insertInto('usage_days')
      .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard', 'value'])
      .expression(sql`
        select
          bot.workspace_id, cast(${p('botId')} as text), cast(${p('kind')} as text),
          cast(${p('day')} as text), ${dialect.writerNumber}, cast(${p('value')} as bigint)
        from ${workspaceOfBot(db, p('botId'))} as bot where true`)
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard'])
          .doUpdateSet({ value: sql`usage_days.value + excluded.value` }),
      )
      .returning('workspace_id as workspaceId'),
  )
}

/** Whether the calls of a bot have a quota, of its own or of its workspace. */
export async function hasCallQuota(db: Db, { workspaceId, botId }: UsageOwner): Promise<boolean> {
  const quotas = await listQuotas(db, workspaceId, botId)
  return quotas.some(({ type }) => type === 'invocation_calls')
}

/** A workspace, or one of its bots. */
export interface UsageOwner {
  workspaceId: string
  /** Empty for the whole workspace. */
  botId: string
}

/**
 * Adds to the calls of a month, whose row is locked until the transaction ends, and returns the new total. The days
 * contain the added calls already: a missing row is the sum of the days.
 */
export async function addToMonth(
  tx: Tx,
  { workspaceId, botId }: UsageOwner,
  month: string,
  calls: number,
): Promise<number> {
  const known = await tx
    .updateTable('usage_months')
    .set((eb) => ({ calls: eb('calls', '+', calls) }))
    .where('workspace_id', '=', workspaceId)
    .where('bot_id', '=', botId)
    .where('month', '=', month)
    .returning('calls')
    .executeTakeFirst()
  if (known !== undefined) return Number(known.calls)
  const summed = await sumCalls(tx, { workspaceId, botId }, month)
  const row = await tx
    .insertInto('usage_months')
    .values({ workspace_id: workspaceId, bot_id: botId, month, calls: summed })
    // Another transaction summed up at the same time, without what this one adds.
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'bot_id', 'month'])
        .doUpdateSet({ calls: sql`usage_months.calls + ${calls}` }),
    )
    .returning('calls')
    .executeTakeFirstOrThrow()
  return Number(row.calls)
}

/** The bounds of the days of a month such as `2026-03`. Months with fewer days have none between their last day and the 31st. */
export function daysOfMonth(month: string): { first: string; last: string } {
  return { first: `${month}-01`, last: `${month}-31` }
}

/** The messages and events of a workspace or a bot in a month, from its days. */
export async function sumCalls(
  executor: Db | Tx,
  { workspaceId, botId }: UsageOwner,
  month: string,
): Promise<number> {
  const { first, last } = daysOfMonth(month)
  let query = executor
    .selectFrom('usage_days')
    .select(({ fn }) => fn.sum<number | null>('value').as('calls'))
    .where('workspace_id', '=', workspaceId)
    .where('kind', 'in', callKinds)
    .where('day', '>=', first)
    .where('day', '<=', last)
  if (botId !== '') query = query.where('bot_id', '=', botId)
  return Number((await query.executeTakeFirst())?.calls ?? 0)
}

/** Deletes the totals of months, of one owner or of all; they are summed up again when they are needed. */
export async function deleteMonths(tx: Tx, owner: Partial<UsageOwner> = {}): Promise<void> {
  const { workspaceId, botId } = owner
  // In the order in which calls lock them: the total of the bot, and then that of its workspace.
  for (const of of ['<>', '='] as const) {
    let query = tx.deleteFrom('usage_months').where('bot_id', of, '')
    if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
    if (botId !== undefined) query = query.where('bot_id', '=', botId)
    await query.execute()
  }
}

export interface QuotaRow extends UsageOwner {
  type: string
  value: number
}

/** The quotas of a workspace, and those of one of its bots. */
export async function listQuotas(
  executor: Db | Tx,
  workspaceId: string,
  botId = '',
): Promise<QuotaRow[]> {
  const rows = await executor
    .selectFrom('usage_quotas')
    .select(['workspace_id as workspaceId', 'bot_id as botId', 'type', 'value'])
    .where('workspace_id', '=', workspaceId)
    .where('bot_id', 'in', ['', botId])
    .execute()
  return rows.map((row) => ({ ...row, value: Number(row.value) }))
}

/** The quotas of a type that bots of a workspace have, by the id of the bot. */
export async function listQuotasOfBots(
  db: Db,
  workspaceId: string,
  type: string,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('usage_quotas')
    .select(['bot_id', 'value'])
    .where('workspace_id', '=', workspaceId)
    .where('bot_id', '<>', '')
    .where('type', '=', type)
    .execute()
  return new Map(rows.map(({ bot_id, value }) => [bot_id, Number(value)]))
}

/** @param value undefined removes the quota */
export async function putQuota(
  tx: Tx,
  { workspaceId, botId }: UsageOwner,
  type: string,
  value: number | undefined,
): Promise<void> {
  if (value === undefined) {
    await tx
      .deleteFrom('usage_quotas')
      .where('workspace_id', '=', workspaceId)
      .where('bot_id', '=', botId)
      .where('type', '=', type)
      .execute()
    return
  }
  await tx
    .insertInto('usage_quotas')
    .values({ workspace_id: workspaceId, bot_id: botId, type, value })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'bot_id', 'type']).doUpdateSet({ value }),
    )
    .execute()
}

/** Moves the quotas of a bot to another workspace. Its usage stays in the former one. */
export async function moveQuotas(
  tx: Tx,
  botId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await tx
    .updateTable('usage_quotas')
    .set({ workspace_id: to })
    .where('workspace_id', '=', from)
    .where('bot_id', '=', botId)
    .execute()
  // A total may lack what came while the bot had no quota: of an earlier time there.
  for (const workspaceId of [from, to]) await deleteMonths(tx, { workspaceId, botId })
}

/** Deletes the quotas and totals of a deleted bot. Its days stay, because its workspace used them. */
export async function deleteQuotasOfBot(tx: Tx, botId: string): Promise<void> {
  for (const table of ['usage_quotas', 'usage_months'] as const) {
    await tx.deleteFrom(table).where('bot_id', '=', botId).execute()
  }
}

/** Deletes the rows of a workspace, except for its days, which may be many. */
export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('usage_quotas').where('workspace_id', '=', workspaceId).execute()
  await deleteMonths(tx, { workspaceId })
}

/** @returns how many rows of the days of a workspace were deleted, at most `limit` */
export async function deleteDaysOf(tx: Tx, workspaceId: string, limit: number): Promise<number> {
  return await deleteDays(tx, sql`workspace_id = ${workspaceId}`, limit)
}

async function deleteDays(tx: Tx, which: Expression<unknown>, limit: number): Promise<number> {
  const result = await sql`
    delete from usage_days where (workspace_id, bot_id, kind, day, shard) in (
      select workspace_id, bot_id, kind, day, shard from usage_days where ${which} limit ${limit}
    )`.execute(tx)
  return Number(result.numAffectedRows ?? 0)
}

/** A size or a number of a workspace or a bot on a day. */
export interface Gauge {
  /** Empty for the whole workspace. */
  botId: string
  kind: GaugeKind
  value: number
}

/** Stores values of a workspace and its bots on a day, in place of earlier ones of the day. */
export async function putGauges(
  tx: Tx,
  workspaceId: string,
  day: string,
  gauges: readonly Gauge[],
): Promise<void> {
  const rows = gauges.map(({ botId, kind, value }) => ({
    workspace_id: workspaceId,
    bot_id: botId,
    kind,
    day,
    shard: 0,
    value,
  }))
  await tx
    .insertInto('usage_days')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard'])
        .doUpdateSet({ value: sql`excluded.value` }),
    )
    .execute()
}

/** Adds up the rows of a day to one for each counter: its writers have ended. */
export async function mergeShards(tx: Tx, limit: number, before: string): Promise<number> {
  const split = await tx
    .selectFrom('usage_days')
    .select(['workspace_id', 'bot_id', 'kind', 'day'])
    .where('day', '<', before)
    // A literal, not a parameter, so that the partial index is used.
    .where(sql<SqlBool>`shard > 0`)
    .limit(limit)
    .execute()
  for (const key of split) {
    // What this statement deletes, and not what was read before: another process may merge them too.
    const parts = await tx
      .deleteFrom('usage_days')
      .where('workspace_id', '=', key.workspace_id)
      .where('bot_id', '=', key.bot_id)
      .where('kind', '=', key.kind)
      .where('day', '=', key.day)
      .where('shard', '>', 0)
      .returning('value')
      .execute()
    if (parts.length === 0) continue
    const value = parts.reduce((sum, part) => sum + Number(part.value), 0)
    await tx
      .insertInto('usage_days')
      .values({ ...key, shard: 0, value })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard'])
          .doUpdateSet({ value: sql`usage_days.value + excluded.value` }),
      )
      .execute()
  }
  return split.length
}

/** @returns how many rows of old days were deleted, at most `limit` */
export async function deleteOldDays(tx: Tx, limit: number, before: string): Promise<number> {
  return await deleteDays(tx, sql`day < ${before}`, limit)
}

/** Conditions for days of a workspace. */
export interface DayFilter {
  workspaceId: string
  kinds: readonly UsageKind[]
  /** First and last day. */
  first: string
  last: string
  /** Which rows: those of the whole workspace, those of the bots that are seen, or those of one. */
  of: 'workspace' | SeenBots
}

/** The bots whose usage a caller may see: of those who may not see all bots, these, which are still there. */
export type SeenBots = BotReach | { readonly kind: 'these'; readonly botIds: readonly string[] }

function daysOf(db: Db, { workspaceId, kinds, first, last, of }: DayFilter) {
  const query = db
    .selectFrom('usage_days')
    .where('workspace_id', '=', workspaceId)
    .where('kind', 'in', kinds)
    .where('day', '>=', first)
    .where('day', '<=', last)
  if (of === 'workspace') return query.where('bot_id', '=', '')
  if (of.kind === 'only') return query.where('bot_id', '=', of.botId)
  if (of.kind === 'except') return query.where('bot_id', 'not in', ['', ...of.botIds])
  if (of.kind === 'these') {
    const given = dialectOf(db).jsonTexts(sql.val(JSON.stringify(of.botIds)))
    return query.where('bot_id', 'in', db.selectFrom(given).select('given.value'))
  }
  return query.where('bot_id', '<>', '')
}

/** The sums of days, the last one first. */
export async function sumByDay(
  db: Db,
  filter: DayFilter,
): Promise<{ day: string; value: number }[]> {
  const rows = await inPieces(filter, (piece) =>
    daysOf(db, piece)
      .select(({ fn }) => ['day', fn.sum<number>('value').as('value')])
      .groupBy('day')
      .orderBy('day', 'desc')
      .execute(),
  )
  return rows.map(({ day, value }) => ({ day, value: Number(value) }))
}

/** The sums of bots. */
export async function sumByBot(db: Db, filter: DayFilter): Promise<Map<string, number>> {
  const rows = await inPieces(filter, (piece) =>
    daysOf(db, piece)
      .select(({ fn }) => ['bot_id', fn.sum<number>('value').as('value')])
      .groupBy('bot_id')
      .execute(),
  )
  const sums = new Map<string, number>()
  for (const { bot_id, value } of rows) sums.set(bot_id, (sums.get(bot_id) ?? 0) + Number(value))
  return sums
}

/** The last value of each bot. */
export async function lastByBot(db: Db, filter: DayFilter): Promise<Map<string, number>> {
  const rows = await inPieces(filter, (piece) =>
    daysOf(db, piece).select(['bot_id', 'value']).orderBy('day', 'desc').execute(),
  )
  // Of several values of a bot the first one counts, which is set last.
  return new Map(rows.reverse().map(({ bot_id, value }) => [bot_id, Number(value)]))
}

/** The rows of a range of months in pieces, the last piece first: others have their turn in between. */
async function inPieces<Row>(
  filter: DayFilter,
  read: (piece: DayFilter) => Promise<Row[]>,
): Promise<Row[]> {
  // A bot has one row of each kind and day.
  if (filter.of === 'workspace' || filter.of.kind === 'only') return await read(filter)
  const rows: Row[] = []
  for (const [first, last] of piecesOf(filter)) {
    await nextTurn()
    for (const row of await read({ ...filter, first, last })) rows.push(row)
  }
  return rows
}

/** Days of months at which a piece begins. */
const pieceStarts = ['25', '17', '09', '01']

/** The pieces of a range of whole months, the last one first. */
function piecesOf({ first, last }: Pick<DayFilter, 'first' | 'last'>): [string, string][] {
  const pieces: [string, string][] = []
  for (let month = last.slice(0, 7); `${month}-31` >= first; month = monthsBefore(month, 1)) {
    let end = '31'
    for (const start of pieceStarts) {
      pieces.push([`${month}-${start}`, `${month}-${end}`])
      end = String(Number(start) - 1).padStart(2, '0')
    }
  }
  return pieces
}

/** A month, such as `2026-03`, some months before another. */
export function monthsBefore(period: string, months: number): string {
  const [year = 0, month = 1] = period.split('-').map(Number)
  // Not by the clock, which takes the first hundred years for others.
  const all = year * 12 + month - 1 - months
  return `${String(Math.floor(all / 12)).padStart(4, '0')}-${String((all % 12) + 1).padStart(2, '0')}`
}

/** Days and bots, the last day first. */
export async function pageDays(
  db: Db,
  filter: DayFilter,
  page: PageRequest<'day'>,
): Promise<Page<{ day: string; id: string; value: number }>> {
  // Not a select of sums, which would be all of the range: the index has the days in this order.
  let query = daysOf(db, filter)
    .select(({ fn }) => ['day', 'bot_id as id', fn.sum<number>('value').as('value')])
    .groupBy(['day', 'bot_id'])
    .having(({ fn }) => fn.sum('value'), '>', 0)
    .orderBy('day', 'desc')
    .orderBy('bot_id', 'desc')
    .limit(page.size + 1)
  if (page.after !== undefined) {
    const { value, id } = page.after
    query = query.where(sql<SqlBool>`(day, bot_id) < (${value}, ${id})`)
  }
  const found = await query.execute()
  const rows = found.slice(0, page.size).map((row) => ({ ...row, value: Number(row.value) }))
  const last = rows.at(-1)
  if (found.length <= page.size || last === undefined) return { rows, nextToken: undefined }
  return { rows, nextToken: page.tokenAfter({ value: last.day, id: last.id }) }
}

/** The values of all kinds on one day. */
export async function listDay(
  db: Db,
  workspaceId: string,
  day: string,
): Promise<{ botId: string; kind: string; value: number }[]> {
  const rows = await db
    .selectFrom('usage_days')
    .select(({ fn }) => ['bot_id as botId', 'kind', fn.sum<number>('value').as('value')])
    .where('workspace_id', '=', workspaceId)
    .where('day', '=', day)
    .groupBy(['bot_id', 'kind'])
    .orderBy('bot_id')
    .orderBy('kind')
    .execute()
  return rows.map((row) => ({ ...row, value: Number(row.value) }))
}

/** The first day of a range for which a workspace has rows. */
export async function findDay(
  db: Db,
  workspaceId: string,
  first: string,
  last: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('usage_days')
    .select('day')
    .where('workspace_id', '=', workspaceId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .orderBy('day')
    .limit(1)
    .executeTakeFirst()
  return row?.day
}

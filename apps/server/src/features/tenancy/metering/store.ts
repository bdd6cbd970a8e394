import { type Expression, type Kysely, sql } from 'kysely'
import type { BotReach } from '../../../domain/rights.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'

/** What is stored of each bot: what is counted, and sizes and numbers of objects. */
export type UsageKind =
  | 'user_messages'
  | 'bot_messages'
  | 'events'
  | 'action_calls'
  | 'listener_time'
  | 'hosted_time'
  | StoredLevel

/** What is there at a time, as the hourly job stores it. */
export type StoredLevel =
  | 'storage'
  | 'vectors'
  | 'indexed_files'
  | 'bots'
  | 'members'
  | 'integrations'
  | 'always_alive'

/** The kinds that count towards the quota of calls. */
const callKinds = ['user_messages', 'events'] as const

interface Count {
  botId: string
  kind: UsageKind
  day: string
  value: number
}

/** Where something was counted, and whether the calls of that workspace or bot have a quota. */
export interface Counted {
  workspaceId: string
  hasQuota: number
}

/** The select of the workspace of a bot, for joins: its column is `workspace_id`. */
export type PlaceOfBot = (db: Kysely<Schema>, botId: Expression<string>) => Expression<unknown>

/**
 * Makes the statement that adds to a counter of a bot where it is; nothing if it was deleted. On the path of each message,
 * so that it also tells whether there are quotas to look at.
 */
export function createAddToDay(placeOf: PlaceOfBot) {
  return prepared<Count>()((db, p, dialect) =>
    db
      .insertInto('usage_days')
      .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard', 'value'])
      .expression(sql`
        select
          place.workspace_id, cast(${p('botId')} as text), cast(${p('kind')} as text),
          cast(${p('day')} as text), ${dialect.writerNumber}, cast(${p('value')} as bigint)
        from ${placeOf(db, p('botId'))} as place where true`)
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard'])
          .doUpdateSet({ value: sql`usage_days.value + excluded.value` }),
      )
      .returning([
        'workspace_id as workspaceId',
        sql<number>`case when exists (
          select 1 from usage_quotas
          where usage_quotas.workspace_id = usage_days.workspace_id
            and usage_quotas.bot_id in ('', usage_days.bot_id) and usage_quotas.type = 'invocation_calls'
        ) then 1 else 0 end`.as('hasQuota'),
      ]),
  )
}

/** A workspace, or one of its bots. */
export interface UsageOwner {
  workspaceId: string
  /** Empty for the whole workspace. */
  botId: string
}

/**
 * Adds to the calls of a month, whose row is locked until the transaction ends, and returns the new total. What is added
 * is in the days already, of which a missing row is summed up.
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

async function sumCalls(
  tx: Tx,
  { workspaceId, botId }: UsageOwner,
  month: string,
): Promise<number> {
  let query = tx
    .selectFrom('usage_days')
    .select(({ fn }) => fn.sum<number | null>('value').as('calls'))
    .where('workspace_id', '=', workspaceId)
    .where('kind', 'in', callKinds)
    .where('day', '>=', `${month}-01`)
    .where('day', '<=', `${month}-31`)
  if (botId !== '') query = query.where('bot_id', '=', botId)
  return Number((await query.executeTakeFirst())?.calls ?? 0)
}

/** Forgets the totals of months, which are summed up again when they are needed. */
export async function deleteMonths(tx: Tx, owner?: UsageOwner): Promise<void> {
  let query = tx.deleteFrom('usage_months')
  if (owner !== undefined) {
    query = query.where('workspace_id', '=', owner.workspaceId).where('bot_id', '=', owner.botId)
  }
  await query.execute()
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

/** Moves the quotas of a bot to another workspace. What it used stays where it used it. */
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
}

export async function deleteQuotasOfBot(tx: Tx, botId: string): Promise<void> {
  for (const table of ['usage_quotas', 'usage_months'] as const) {
    await tx.deleteFrom(table).where('bot_id', '=', botId).execute()
  }
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  for (const table of ['usage_quotas', 'usage_months', 'usage_days'] as const) {
    await tx.deleteFrom(table).where('workspace_id', '=', workspaceId).execute()
  }
}

/** What a workspace or a bot has on a day. */
export interface Level {
  /** Empty for the whole workspace. */
  botId: string
  kind: StoredLevel
  value: number
}

/** Stores what a workspace and its bots have on a day, in place of what was stored. */
export async function putLevels(
  tx: Tx,
  workspaceId: string,
  day: string,
  levels: readonly Level[],
): Promise<void> {
  const rows = levels.map(({ botId, kind, value }) => ({
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
    .select(({ fn }) => [
      'workspace_id',
      'bot_id',
      'kind',
      'day',
      fn.sum<number>('value').as('value'),
    ])
    .where('day', '<', before)
    .where('shard', '>', 0)
    .groupBy(['workspace_id', 'bot_id', 'kind', 'day'])
    .limit(limit)
    .execute()
  for (const { value, ...key } of split) {
    await tx
      .deleteFrom('usage_days')
      .where('workspace_id', '=', key.workspace_id)
      .where('bot_id', '=', key.bot_id)
      .where('kind', '=', key.kind)
      .where('day', '=', key.day)
      .where('shard', '>', 0)
      .execute()
    await tx
      .insertInto('usage_days')
      .values({ ...key, shard: 0, value: Number(value) })
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
  const result = await sql`
    delete from usage_days where (workspace_id, bot_id, kind, day, shard) in (
      select workspace_id, bot_id, kind, day, shard from usage_days where day < ${before} limit ${limit}
    )`.execute(tx)
  return Number(result.numAffectedRows ?? 0)
}

/** The days of a workspace that are read. */
export interface DayFilter {
  workspaceId: string
  kinds: readonly UsageKind[]
  /** First and last day. */
  first: string
  last: string
  /** Which rows: those of the whole workspace, those of the bots that are seen, or those of one. */
  of: 'workspace' | BotReach
}

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
  return query.where('bot_id', '<>', '')
}

/** The sums of days, the last one first. */
export async function sumByDay(
  db: Db,
  filter: DayFilter,
): Promise<{ day: string; value: number }[]> {
  const rows = await daysOf(db, filter)
    .select(({ fn }) => ['day', fn.sum<number>('value').as('value')])
    .groupBy('day')
    .orderBy('day', 'desc')
    .execute()
  return rows.map(({ day, value }) => ({ day, value: Number(value) }))
}

/** The sums of bots. */
export async function sumByBot(db: Db, filter: DayFilter): Promise<Map<string, number>> {
  const rows = await daysOf(db, filter)
    .select(({ fn }) => ['bot_id', fn.sum<number>('value').as('value')])
    .groupBy('bot_id')
    .execute()
  return new Map(rows.map(({ bot_id, value }) => [bot_id, Number(value)]))
}

/** The last value of each bot. */
export async function lastByBot(db: Db, filter: DayFilter): Promise<Map<string, number>> {
  const rows = await daysOf(db, filter)
    .select(['bot_id', 'value'])
    .where('day', '=', ({ selectFrom }) =>
      selectFrom('usage_days as later')
        .select(({ fn }) => fn.max('later.day').as('day'))
        .whereRef('later.workspace_id', '=', 'usage_days.workspace_id')
        .whereRef('later.bot_id', '=', 'usage_days.bot_id')
        .whereRef('later.kind', '=', 'usage_days.kind')
        .where('later.day', '>=', filter.first)
        .where('later.day', '<=', filter.last),
    )
    .execute()
  return new Map(rows.map(({ bot_id, value }) => [bot_id, Number(value)]))
}

/** Days and bots, the last day first. */
export async function pageDays(
  db: Db,
  filter: DayFilter,
  page: PageRequest<'day'>,
): Promise<Page<{ day: string; id: string; value: number }>> {
  const sums = daysOf(db, filter)
    .select(({ fn }) => ['day', 'bot_id as id', fn.sum<number>('value').as('value')])
    .groupBy(['day', 'bot_id'])
    .having(({ fn }) => fn.sum('value'), '>', 0)
  const { rows, nextToken } = await paginate(
    db.selectFrom(sums.as('sums')).select(['day', 'id', 'value']),
    page,
  )
  return { rows: rows.map((row) => ({ ...row, value: Number(row.value) })), nextToken }
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

/** The days of a range on which something is stored of a workspace, the first one first. */
export async function listDays(
  db: Db,
  workspaceId: string,
  first: string,
  last: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('usage_days')
    .select('day')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .orderBy(sql`day`)
    .execute()
  return rows.map(({ day }) => day)
}

import { sql } from 'kysely'
import type { BotReach } from '../../../domain/rights.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { UsageKind } from '../../bots/metering/index.js'

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

/** What was used on a day. */
export interface DayValue {
  day: string
  /** Of a bot; empty for the whole workspace. */
  botId: string
  value: number
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

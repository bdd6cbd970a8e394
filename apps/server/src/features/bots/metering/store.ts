import type { UsageType } from '@botstead/contract'
import { type Expression, sql } from 'kysely'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { QuotaType } from './table.js'

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

/**
 * Adds to a counter of a bot where it is; nothing if it was deleted. On the path of each message: one statement, which
 * also tells whether there are quotas to look at.
 */
export const addToDay = prepared<Count>()((db, p, dialect) =>
  db
    .insertInto('usage_days')
    .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard', 'value'])
    .expression(
      db
        .selectFrom('bots')
        .select([
          'workspace_id',
          'id',
          sql<string>`cast(${p('kind')} as text)`.as('kind'),
          sql<string>`cast(${p('day')} as text)`.as('day'),
          dialect.writerNumber.as('shard'),
          sql<number>`cast(${p('value')} as bigint)`.as('value'),
        ])
        .where('id', '=', p('botId')),
    )
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
  type: QuotaType
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
  type: UsageType,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('usage_quotas')
    .select(['bot_id', 'value'])
    .where('workspace_id', '=', workspaceId)
    .where('bot_id', '<>', '')
    .where('type', '=', type as QuotaType)
    .execute()
  return new Map(rows.map(({ bot_id, value }) => [bot_id, Number(value)]))
}

/** @param value undefined removes the quota */
export async function putQuota(
  tx: Tx,
  { workspaceId, botId }: UsageOwner,
  type: QuotaType,
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

export async function deleteQuotasOfBot(tx: Tx, workspaceId: string, botId: string): Promise<void> {
  for (const table of ['usage_quotas', 'usage_months'] as const) {
    await tx
      .deleteFrom(table)
      .where('workspace_id', '=', workspaceId)
      .where('bot_id', '=', botId)
      .execute()
  }
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  for (const table of ['usage_quotas', 'usage_months', 'usage_days'] as const) {
    await tx.deleteFrom(table).where('workspace_id', '=', workspaceId).execute()
  }
}

/** Expressions for what a workspace has now. */
function levelsOf(workspaceId: Expression<string>): Record<StoredLevel, Expression<number>> {
  const owned = (table: string, condition = sql`true`) =>
    sql<number>`(select count(*) from ${sql.table(table)} as owned where owned.workspace_id = ${workspaceId} and ${condition})`
  const used = (column: string) =>
    sql<number>`coalesce((select ${sql.ref(column)} from file_usage where file_usage.workspace_id = ${workspaceId}), 0)`
  return {
    bots: owned('bots'),
    always_alive: owned('bots', sql`owned.always_alive = 1`),
    members: owned('workspace_members'),
    integrations: owned('integrations'),
    storage: used('storage_bytes'),
    vectors: used('vector_bytes'),
    indexed_files: sql<number>`coalesce((
      select sum(indexed_files) from bot_file_usage join bots on bots.id = bot_file_usage.bot_id
      where bots.workspace_id = ${workspaceId}
    ), 0)`,
  }
}

/** The columns with what a bot has now; the other levels are those of workspaces. */
const botColumns = {
  storage: 'storage_bytes',
  vectors: 'vector_bytes',
  indexed_files: 'indexed_files',
} as const satisfies Partial<Record<StoredLevel, string>>

/** Whether single bots have a level of this kind. */
export function isOfBots(kind: UsageKind): kind is keyof typeof botColumns {
  return Object.hasOwn(botColumns, kind)
}

/** What a workspace has now, or one of its bots. */
export async function findLevel(
  db: Db,
  { workspaceId, botId }: UsageOwner,
  kind: StoredLevel,
): Promise<number> {
  if (botId !== '') return (await listLevelsOfBots(db, workspaceId, kind)).get(botId) ?? 0
  const level = levelsOf(sql`cast(${workspaceId} as text)`)[kind]
  const { rows } = await sql<{ value: number }>`select ${level} as value`.execute(db)
  return Number(rows[0]?.value ?? 0)
}

/** What the bots of a workspace have now; those that have nothing are left out. */
export async function listLevelsOfBots(
  db: Db,
  workspaceId: string,
  kind: UsageKind,
): Promise<Map<string, number>> {
  if (!isOfBots(kind)) return new Map()
  const column = botColumns[kind]
  const rows = await db
    .selectFrom('bot_file_usage')
    .innerJoin('bots', 'bots.id', 'bot_file_usage.bot_id')
    .select(['bot_file_usage.bot_id', `bot_file_usage.${column} as value`])
    .where('bots.workspace_id', '=', workspaceId)
    .where(`bot_file_usage.${column}`, '>', 0)
    .execute()
  return new Map(rows.map(({ bot_id, value }) => [bot_id, Number(value)]))
}

/** Stores what some workspaces behind an id have on a day. @returns the last of them; undefined if there was none */
export async function storeLevelsOfWorkspaces(
  tx: Tx,
  after: string,
  limit: number,
  day: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from workspaces where id > ${after} order by id limit ${limit}`.execute(tx)
  const last = rows.at(-1)?.id
  if (last === undefined) return undefined
  const levels = levelsOf(sql`places.id`)
  for (const [kind, value] of Object.entries(levels)) {
    await putLevels(
      tx,
      sql`
        select places.id, '', cast(${kind} as text), cast(${day} as text), 0, ${value}
        from workspaces as places where places.id > ${after} and places.id <= ${last}`,
    )
  }
  return last
}

/** Stores what some bots behind an id have on a day. @returns the last of them; undefined if there was none */
export async function storeLevelsOfBots(
  tx: Tx,
  after: string,
  limit: number,
  day: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select bot_id as id from bot_file_usage where bot_id > ${after} order by bot_id limit ${limit}`.execute(
    tx,
  )
  const last = rows.at(-1)?.id
  if (last === undefined) return undefined
  for (const [kind, column] of Object.entries(botColumns)) {
    await putLevels(
      tx,
      sql`
        select bots.workspace_id, bots.id, cast(${kind} as text), cast(${day} as text), 0, ${sql.ref(column)}
        from bot_file_usage join bots on bots.id = bot_file_usage.bot_id
        where bot_file_usage.bot_id > ${after} and bot_file_usage.bot_id <= ${last}`,
    )
  }
  return last
}

async function putLevels(tx: Tx, select: Expression<unknown>): Promise<void> {
  await sql`
    insert into usage_days (workspace_id, bot_id, kind, day, shard, value) ${select}
    on conflict (workspace_id, bot_id, kind, day, shard) do update set value = excluded.value`.execute(
    tx,
  )
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

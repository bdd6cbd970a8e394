import type { Expression, Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { BotScope } from '../../../domain/rights.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import { installationsIn } from '../installations/index.js'
import { pluginsIn } from '../plugins/index.js'
import type { BotsTable } from './table.js'

export type BotRow = Selectable<BotsTable>

const secretColumns = [
  'signing_secret',
  'previous_signing_secret',
  'previous_secret_until',
] as const
/** The signing secrets of a bot, sealed. */
export type BotSecretColumns = Pick<BotRow, (typeof secretColumns)[number]>

/** The columns of a bot that lists show. */
export type BotSummaryRow = Pick<
  BotRow,
  'id' | 'name' | 'type' | 'tags' | 'created_at' | 'updated_at' | 'deployed_at'
>

/** Filter of a list of bots. */
export interface BotFilter {
  /** Both kinds if undefined. */
  dev: boolean | undefined
  /** Part of the name, regardless of case. */
  name: string | undefined
  ids: readonly string[] | undefined
  /** All must match. */
  tags: Record<string, string>
  /** Names of integrations, all of which must be installed. */
  integrationNames: readonly string[]
  /** Names of plugins, all of which must be installed. */
  pluginNames: readonly string[]
}

export async function insertBot(tx: Tx, row: Insertable<BotsTable>): Promise<void> {
  await tx.insertInto('bots').values(row).execute()
}

export async function findBot(
  executor: Db | Tx,
  workspaceId: string,
  id: string,
): Promise<BotRow | undefined> {
  return await executor
    .selectFrom('bots')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Keeps others from changing a bot until the transaction ends. */
export async function lockBot(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await dialectOf(tx)
    .lockRows(selectId(tx, workspaceId, id))
    .execute()
}

/** Keeps a bot from being deleted until the transaction ends. @returns whether it is in the workspace */
export async function keepBot(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  return await dialectOf(tx).keepRows(selectId(tx, workspaceId, id))
}

/** As `keepBot`, in whatever workspace. @returns whether there is one */
export async function keepBotAnywhere(tx: Tx, id: string): Promise<boolean> {
  return await dialectOf(tx).keepRows(tx.selectFrom('bots').select('id').where('id', '=', id))
}

/** Keeps a bot where it is, and from being deleted, until the transaction ends. @returns its workspace, if there is one */
export async function keepWorkspaceOf(tx: Tx, id: string): Promise<string | undefined> {
  return (await keepBotAnywhere(tx, id)) ? await findWorkspaceOf(tx, id) : undefined
}

function selectId(tx: Tx, workspaceId: string, id: string) {
  return tx
    .selectFrom('bots')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
}

/** The workspace of a bot, for joins. */
export function workspaceOfBot(db: Kysely<Schema>, id: Expression<string>) {
  return db.selectFrom('bots').select('workspace_id').where('id', '=', id)
}

const selectWorkspaceOf = prepared<{ id: string }>()((db, p) =>
  db.selectFrom('bots').select('workspace_id').where('id', '=', p('id')),
)

/** The workspace of a bot: for authentication, which has no scope yet. */
export async function findWorkspaceOf(db: Db | Tx, id: string): Promise<string | undefined> {
  const row = await selectWorkspaceOf.first(db, { id })
  return row?.workspace_id
}

/** The address and the workspace of a bot. Calls to a bot need them and have no scope. */
export async function findBotAddress(
  db: Db,
  id: string,
): Promise<Pick<BotRow, 'workspace_id' | 'dev' | 'url'> | undefined> {
  return await db
    .selectFrom('bots')
    .select(['workspace_id', 'dev', 'url'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The address and the definition of a bot. */
export async function findBotProfile(
  db: Db,
  id: string,
): Promise<Pick<BotRow, 'workspace_id' | 'url' | 'deployment_id' | 'definition'> | undefined> {
  return await db
    .selectFrom('bots')
    .select(['workspace_id', 'url', 'deployment_id', 'definition'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The address, secret and headers for a call to the bot's own server. */
export async function findBotServer(
  db: Db,
  id: string,
): Promise<
  | Pick<
      BotRow,
      | 'url'
      | 'deployment_id'
      | 'blocked'
      | 'max_execution_time'
      | 'definition'
      | keyof BotSecretColumns
    >
  | undefined
> {
  return await db
    .selectFrom('bots')
    .select([
      'url',
      'deployment_id',
      'blocked',
      'max_execution_time',
      'definition',
      ...secretColumns,
    ])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The bots of a workspace that a caller may see. */
function botsIn(executor: Db | Tx, { workspaceId, rights: { bots } }: BotScope) {
  const query = executor.selectFrom('bots').where('workspace_id', '=', workspaceId)
  switch (bots.kind) {
    case 'all':
      return query
    case 'only':
      return query.where('id', '=', bots.botId)
    case 'except':
      return query.where('id', 'not in', bots.botIds)
    default:
      return bots satisfies never
  }
}

export async function pageBots(
  db: Db,
  scope: BotScope,
  filter: BotFilter,
  page: PageRequest<'created_at' | 'updated_at'>,
): Promise<Page<BotSummaryRow>> {
  const dialect = dialectOf(db)
  let query = botsIn(db, scope)
    .select(['id', 'name', 'type', 'tags', 'created_at', 'updated_at', 'deployed_at'])
    .$if(filter.dev !== undefined, (some) => some.where('dev', '=', filter.dev ? 1 : 0))
  const { name: part, ids } = filter
  if (part) query = query.where(({ ref }) => dialect.contains(ref('bots.name'), part))
  if (ids !== undefined) query = query.where('id', 'in', ids)
  for (const [name, value] of Object.entries(filter.tags)) {
    query = query.where(({ ref }) => dialect.jsonText(ref('bots.tags'), name), '=', value)
  }
  for (const name of filter.integrationNames) {
    query = query.where(({ exists, ref }) => exists(installationsIn(db, ref('bots.id'), { name })))
  }
  for (const name of filter.pluginNames) {
    query = query.where(({ exists, ref }) => exists(pluginsIn(db, ref('bots.id'), name)))
  }
  return await paginate(query, page)
}

export async function patchBot(
  tx: Tx,
  workspaceId: string,
  id: string,
  patch: Updateable<BotsTable>,
): Promise<void> {
  await tx
    .updateTable('bots')
    .set(patch)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

/** Moves the row of a bot, which is locked. */
export async function moveBot(
  tx: Tx,
  id: string,
  { from, to }: { from: string; to: string },
  updatedAt: string,
): Promise<void> {
  await patchBot(tx, from, id, { workspace_id: to, updated_at: updatedAt })
}

/** @returns whether there was such a bot */
export async function deleteBot(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const result = await tx
    .deleteFrom('bots')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** The columns of a bot that show whether it can be called. */
export type BotReachRow = Pick<BotRow, 'id' | 'name' | 'url' | 'deployment_id' | 'blocked'>

/** The newest bots of a workspace, at most `limit`. */
export async function listBotReach(
  db: Db,
  { botId, ...scope }: BotScope & { botId?: string | undefined },
  limit: number,
): Promise<BotReachRow[]> {
  return await botsIn(db, scope)
    .select(['id', 'name', 'url', 'deployment_id', 'blocked'])
    .$if(botId !== undefined, (query) => query.where('id', '=', botId ?? ''))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Ids of bots of all workspaces behind an id, at most `limit`, in the order of ids. */
export async function listIdsAfter(db: Db, id: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('bots')
    .select('id')
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Names of bots of a workspace, by id. */
export async function listNames(
  db: Db,
  scope: BotScope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await botsIn(db, scope).select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Ids of the bots of a workspace. */
export async function listBotIds(executor: Db | Tx, scope: BotScope): Promise<string[]> {
  const rows = await botsIn(executor, scope).select('id').execute()
  return rows.map(({ id }) => id)
}

export async function countBots(
  db: Db | Tx,
  workspaceIds: readonly string[],
): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('bots')
    .select(({ fn }) => ['workspace_id', fn.countAll<number>().as('bots')])
    .where('workspace_id', 'in', workspaceIds)
    .groupBy('workspace_id')
    .execute()
  return new Map(rows.map(({ workspace_id, bots }) => [workspace_id, Number(bots)]))
}

/** The number of bots of a workspace whose code always runs. */
export async function countAlwaysAlive(db: Db, workspaceId: string): Promise<number> {
  const { alive } = await db
    .selectFrom('bots')
    .select(({ fn }) => fn.countAll<number>().as('alive'))
    .where('workspace_id', '=', workspaceId)
    .where('always_alive', '=', 1)
    .executeTakeFirstOrThrow()
  return Number(alive)
}

/** The code of a bot that runs here, with what starting it needs; undefined without code. */
export async function findHosted(
  db: Db,
  id: string,
): Promise<Pick<BotRow, 'id' | 'workspace_id' | 'url' | 'deployment_id' | 'secrets'> | undefined> {
  return await db
    .selectFrom('bots')
    .select(['id', 'workspace_id', 'url', 'deployment_id', 'secrets'])
    .where('id', '=', id)
    .where('deployment_id', 'is not', null)
    .executeTakeFirst()
}

/** Bots of all workspaces whose code runs here and shall always run: the index of them keeps this cheap. */
export async function listAlwaysAlive(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('bots')
    .select('id')
    .where('always_alive', '=', 1)
    .where('deployment_id', 'is not', null)
    .where('url', 'is', null)
    .where('blocked', '=', 0)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { PluginCodesTable, PluginsTable } from './table.js'

export type PluginRow = Selectable<PluginsTable>
export type Platform = PluginCodesTable['platform']

/** The plugins of one workspace, or those that workspaces publish. */
export type Catalogue = { workspaceId: string } | 'hub'

const summary = [
  'id',
  'workspace_id',
  'name',
  'version',
  'title',
  'description',
  'icon',
  'visibility',
  'installs',
  'created_at',
  'updated_at',
] as const

/** The columns of a plugin that lists show. */
export type PluginSummaryRow = Pick<PluginRow, (typeof summary)[number]>

/** Filter of a list of plugins; undefined members match anything. */
export interface PluginFilter {
  name: string | undefined
  version: string | undefined
  /** Part of name, title or description. */
  search: string | undefined
}

const published = ['public', 'unlisted'] as const

function selectIn(executor: Db | Tx, catalogue: Catalogue) {
  const query = executor.selectFrom('plugins')
  return catalogue === 'hub'
    ? query.where('visibility', 'in', published)
    : query.where('workspace_id', '=', catalogue.workspaceId)
}

/** @returns false if the workspace has one of this name and version */
export async function insertPlugin(tx: Tx, row: Insertable<PluginsTable>): Promise<boolean> {
  const result = await tx
    .insertInto('plugins')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function findPlugin(
  executor: Db | Tx,
  catalogue: Catalogue,
  id: string,
): Promise<PluginRow | undefined> {
  return await selectIn(executor, catalogue).selectAll().where('id', '=', id).executeTakeFirst()
}

/** A plugin of a workspace, locked until the transaction ends. */
export async function lockPlugin(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<PluginRow | undefined> {
  const query = selectIn(tx, { workspaceId }).selectAll().where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** The versions of a name, the oldest row first. */
export async function listVersions(
  db: Db,
  catalogue: Catalogue,
  name: string,
): Promise<Pick<PluginRow, 'id' | 'version'>[]> {
  return await selectIn(db, catalogue)
    .select(['id', 'version'])
    .where('name', '=', name)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function pagePlugins(
  db: Db,
  catalogue: Catalogue,
  { name, version, search }: PluginFilter,
  page: PageRequest<'created_at' | 'updated_at' | 'name'>,
): Promise<Page<PluginSummaryRow>> {
  let query = selectIn(db, catalogue).select(summary)
  if (catalogue === 'hub') query = query.where('visibility', '=', 'public')
  if (name !== undefined) query = query.where('name', '=', name)
  if (version !== undefined) query = query.where('version', '=', version)
  if (search !== undefined) {
    const words = sql<string>`(name || ' ' || title || ' ' || description)`
    query = query.where(dialectOf(db).contains(words, search))
  }
  return await paginate(query, page)
}

/** The given plugins that the bots of a workspace may install: its own, and those that others publish. */
export async function listUsable(
  executor: Db | Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<PluginRow[]> {
  if (ids.length === 0) return []
  return await executor
    .selectFrom('plugins')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .where(({ eb, or }) =>
      or([eb('workspace_id', '=', workspaceId), eb('visibility', 'in', published)]),
    )
    .execute()
}

/** Whether another workspace has published a plugin of this name. */
export async function isPublishedElsewhere(
  tx: Tx,
  { name, workspaceId }: { name: string; workspaceId: string },
): Promise<boolean> {
  const found = await selectIn(tx, 'hub')
    .select('id')
    .where('name', '=', name)
    .where('workspace_id', '!=', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export async function patchPlugin(
  tx: Tx,
  workspaceId: string,
  id: string,
  patch: Updateable<PluginsTable>,
): Promise<void> {
  await tx
    .updateTable('plugins')
    .set(patch)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

/** Counts an installation that was removed. */
export async function countRemoval(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('plugins')
    .set((eb) => ({ installs: eb('installs', '-', 1) }))
    .where('id', '=', id)
    .execute()
}

/**
 * Counts an installation that was created in a bot of a workspace, and keeps the plugin from being deleted or
 * made private until the transaction ends.
 * @returns false if the workspace may not use the plugin any more
 */
export async function countInstallation(
  tx: Tx,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const result = await tx
    .updateTable('plugins')
    .set((eb) => ({ installs: eb('installs', '+', 1) }))
    .where('id', '=', id)
    .where(({ eb, or }) =>
      or([eb('workspace_id', '=', workspaceId), eb('visibility', 'in', published)]),
    )
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Stores the code of a plugin for some platforms, instead of that before. */
export async function putCodes(
  tx: Tx,
  { id, workspace_id }: Pick<PluginRow, 'id' | 'workspace_id'>,
  codes: Partial<Record<Platform, string>>,
): Promise<void> {
  for (const platform of ['node', 'browser'] as const) {
    const code = codes[platform]
    if (code === undefined) continue
    await tx
      .insertInto('plugin_codes')
      .values({ plugin_id: id, platform, workspace_id, code })
      .onConflict((conflict) => conflict.columns(['plugin_id', 'platform']).doUpdateSet({ code }))
      .execute()
  }
}

export async function findCode(
  db: Db,
  workspaceId: string,
  id: string,
  platform: Platform,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('plugin_codes')
    .select('code')
    .where('workspace_id', '=', workspaceId)
    .where('plugin_id', '=', id)
    .where('platform', '=', platform)
    .executeTakeFirst()
  return row?.code
}

export async function deletePlugin(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('plugin_codes')
    .where('workspace_id', '=', workspaceId)
    .where('plugin_id', '=', id)
    .execute()
  await tx
    .deleteFrom('plugins')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('plugin_codes').where('workspace_id', '=', workspaceId).execute()
  await tx.deleteFrom('plugins').where('workspace_id', '=', workspaceId).execute()
}

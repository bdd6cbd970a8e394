import type { Expression, Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { PluginInstallationsTable, PluginsTable } from './table.js'

export type PluginInstallationRow = Selectable<PluginInstallationsTable>

/** Plugins of a bot, oldest first. */
export async function listInstallations(
  executor: Db | Tx,
  botId: string,
): Promise<PluginInstallationRow[]> {
  return await executor
    .selectFrom('plugin_installations')
    .selectAll()
    .where('bot_id', '=', botId)
    .orderBy('created_at')
    .orderBy('alias')
    .execute()
}

export async function putInstallation(tx: Tx, row: PluginInstallationRow): Promise<void> {
  const { bot_id: _, alias: __, created_at: ___, ...changes } = row
  await tx
    .insertInto('plugin_installations')
    .values(row)
    .onConflict((conflict) => conflict.columns(['bot_id', 'alias']).doUpdateSet(changes))
    .execute()
}

export async function deleteInstallation(tx: Tx, botId: string, alias: string): Promise<void> {
  await tx
    .deleteFrom('plugin_installations')
    .where('bot_id', '=', botId)
    .where('alias', '=', alias)
    .execute()
}

/** Moves the plugins of a bot with it to another workspace. */
export async function moveInstallations(tx: Tx, botId: string, to: string): Promise<void> {
  await tx
    .updateTable('plugin_installations')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .execute()
}

/** A plugin of a bot, with what it declares; null if it was deleted with its workspace. */
export type DeclaringPlugin = Pick<PluginInstallationRow, 'alias'> & {
  definition: PluginsTable['definition'] | null
}

/** The declarations of the plugins of a bot. */
export async function listDeclaring(db: Db, botId: string): Promise<DeclaringPlugin[]> {
  return await db
    .selectFrom('plugin_installations as installed')
    .leftJoin('plugins', 'plugins.id', 'installed.plugin_id')
    .select(['installed.alias', 'plugins.definition'])
    .where('installed.bot_id', '=', botId)
    .execute()
}

/** A bot of the workspace, or of another one, in which a plugin is installed; undefined without any. */
export async function findInstalledBot(
  tx: Tx,
  { pluginId, workspaceId }: { pluginId: string; workspaceId: string },
  where: 'here' | 'elsewhere',
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('plugin_installations')
    .select('bot_id')
    .where('plugin_id', '=', pluginId)
    .where('workspace_id', where === 'here' ? '=' : '!=', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return row?.bot_id
}

/** Ids of bots in which a plugin is installed, at most `limit`. */
export async function listInstalledBots(
  tx: Tx,
  pluginId: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('plugin_installations')
    .select('bot_id')
    .distinct()
    .where('plugin_id', '=', pluginId)
    .limit(limit)
    .execute()
  return rows.map(({ bot_id }) => bot_id)
}

/** The plugins of a bot with a name, as a subquery for `exists`. */
export function pluginsIn(db: Db, botId: Expression<string>, name: string) {
  return db
    .selectFrom('plugin_installations')
    .select('alias')
    .where('bot_id', '=', botId)
    .where('name', '=', name)
}

import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { type CatalogueSummaryRow, createCatalogueStore } from '../definitions/index.js'
import type { PluginCodesTable, PluginsTable } from './table.js'

export type PluginRow = Selectable<PluginsTable>
export type Platform = PluginCodesTable['platform']

/** The columns of a plugin that lists show. */
export type PluginSummaryRow = CatalogueSummaryRow & Pick<PluginRow, 'installs'>

export const pluginsStore = createCatalogueStore('plugins', ['installs'])

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
  await pluginsStore.remove(tx, workspaceId, id)
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('plugin_codes').where('workspace_id', '=', workspaceId).execute()
  await pluginsStore.removeOfWorkspace(tx, workspaceId)
}

import { ApiError } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { countInstallation, countRemoval } from '../definitions/index.js'
import type { PluginDefinition } from './definition.js'
import * as installed from './installation-store.js'
import { changesOf, type PluginHost, type PluginPatches } from './installations.js'
import { type PluginRow, pluginsStore } from './store.js'

/** A plugin of a bot. */
export interface InstalledPlugin {
  alias: string
  /** Its declarations; undefined if it was deleted with its workspace. */
  declares: PluginDefinition | undefined
}

/** A plugin of a bot as stored, with the plugin itself. */
export interface PluginRecord {
  row: installed.PluginInstallationRow
  /** Undefined if it was deleted with its workspace. */
  plugin: PluginRow | undefined
}

export type PluginsInBots = ReturnType<typeof createPluginsInBots>

/** Creates the functions of the slice of bots for the plugins in them. */
export function createPluginsInBots({ db, sealer }: { db: Db; sealer: Sealer }) {
  async function count(tx: Tx, workspaceId: string, from: string | undefined, to?: string) {
    if (from === to) return
    if (from !== undefined) await countRemoval(tx, 'plugins', from)
    if (to === undefined) return
    if (await countInstallation(tx, 'plugins', { workspaceId, id: to })) return
    throw new ApiError('ReferenceNotFound', `There is no plugin ${to}.`)
  }

  return {
    /** The plugins of a bot of a workspace, oldest first. */
    async list(executor: Db | Tx, workspaceId: string, botId: string): Promise<PluginRecord[]> {
      const rows = await installed.listInstallations(executor, botId)
      const ids = rows.map((row) => row.plugin_id)
      const plugins = new Map(
        (await pluginsStore.listUsable(executor, workspaceId, ids)).map((row) => [row.id, row]),
      )
      return rows.map((row) => ({ row, plugin: plugins.get(row.plugin_id) }))
    },

    /** The declarations of the plugins of a bot. */
    async declaredIn(botId: string): Promise<InstalledPlugin[]> {
      const rows = await installed.listDeclaring(db, botId)
      return rows.map(({ alias, definition }) => ({
        alias,
        declares: definition === null ? undefined : decodeJson<PluginDefinition>(definition),
      }))
    },

    /** Applies a patch of `plugins`. */
    async change(
      tx: Tx,
      host: PluginHost,
      patches: PluginPatches | undefined,
      now: string,
    ): Promise<void> {
      if (patches === undefined) return
      const { botId, workspaceId } = host
      const ids = Object.values(patches).flatMap((patch) => patch?.id ?? [])
      const plugins = new Map(
        (await pluginsStore.listUsable(tx, workspaceId, ids)).map((row) => [row.id, row]),
      )
      const before = await installed.listInstallations(tx, botId)
      for (const change of changesOf(before, patches, plugins, { host, now, sealer })) {
        if (change.after) await installed.putInstallation(tx, change.after)
        else if (change.before) await installed.deleteInstallation(tx, botId, change.before.alias)
        await count(tx, workspaceId, change.before?.plugin_id, change.after?.plugin_id)
      }
    },

    /**
     * The plugins of a bot that another workspace may not use. Those that it may are neither deleted nor made private until the
     * transaction ends. A plugin that was deleted with its workspace is a part of the code of the bot.
     */
    async listUnusable(
      tx: Tx,
      botId: string,
      workspaceId: string,
    ): Promise<installed.PluginInstallationRow[]> {
      const rows = await installed.listInstallations(tx, botId)
      const ids = [...new Set(rows.map((row) => row.plugin_id))]
      const unusable = new Set(await pluginsStore.keepAndListUnusable(tx, workspaceId, ids))
      return rows.filter((row) => unusable.has(row.plugin_id))
    },

    /** Moves the plugins of a bot with it to another workspace. */
    move: installed.moveInstallations,

    /** Removes the plugins of a bot that is removed. */
    async removeOf(tx: Tx, botId: string): Promise<void> {
      for (const row of await installed.listInstallations(tx, botId)) {
        await installed.deleteInstallation(tx, botId, row.alias)
        await countRemoval(tx, 'plugins', row.plugin_id)
      }
    },
  }
}

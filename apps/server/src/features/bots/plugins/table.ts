import type { CatalogueColumns } from '../definitions/index.js'

/**
 * A plugin: a part of bots with states, events and actions of its own. `definition` is a `PluginDefinition`; its
 * code has a table of its own, because it is large and lists do not show it.
 */
export interface PluginsTable extends CatalogueColumns {
  /** In how many bots it is installed, counted with the installations. */
  installs: number
}

/** The code of a plugin for one platform. */
export interface PluginCodesTable {
  plugin_id: string
  platform: 'node' | 'browser'
  workspace_id: string
  code: string
}

/** A plugin installed in a bot, by alias. */
export interface PluginInstallationsTable {
  bot_id: string
  alias: string
  /** Workspace of the bot; that of the plugin may be another. */
  workspace_id: string
  plugin_id: string
  name: string
  version: string
  enabled: number
  /** Sealed JSON: configurations hold credentials. */
  configuration: string
  /** JSON: the integrations behind its interfaces, by alias. */
  interfaces: string
  /** JSON: the integrations that it uses, by alias. */
  integrations: string
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    plugins: PluginsTable
    plugin_codes: PluginCodesTable
    plugin_installations: PluginInstallationsTable
  }
}

import type { contract, Output } from '@botstead/contract'
import { decodeBoolean, decodeJson } from '../../../platform/db/columns.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { iconUrlOf, readmeUrlOf } from '../definitions/index.js'
import type { Dependency, PluginDefinition } from './definition.js'
import type { PluginInstallationRow } from './installation-store.js'
import type { PluginRow, PluginSummaryRow } from './store.js'

type WirePlugin = Output<typeof contract.plugins.get>['plugin']
type WireSummary = Output<typeof contract.plugins.list>['plugins'][number]
type WireInstallation = Output<typeof contract.bots.get>['bot']['plugins'][string]

export function toSummary(row: PluginSummaryRow): WireSummary {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title: row.title,
    description: row.description,
    iconUrl: iconUrlOf(row.icon),
    readmeUrl: '',
    public: row.visibility === 'public',
    visibility: row.visibility,
    lifecycleStatus: 'published',
  }
}

/** @param definition instead of the stored one */
export function toPlugin(
  row: PluginRow,
  definition = decodeJson<PluginDefinition>(row.definition),
): WirePlugin {
  const { interfaces, integrations } = definition.dependencies
  return {
    ...toSummary(row),
    readmeUrl: readmeUrlOf(row.readme),
    ...definition,
    dependencies: { interfaces: shown(interfaces), integrations: shown(integrations) },
  }
}

function shown(dependencies: Record<string, Dependency>) {
  return Object.fromEntries(
    Object.entries(dependencies).map(([alias, { isById: _, ...dependency }]) => [
      alias,
      dependency,
    ]),
  )
}

/** The additional members of a plugin in the hub. */
export function toHubMeta({ installs }: Pick<PluginRow, 'installs'>) {
  return { meta: { installs, views: 0 } }
}

/** @param plugin undefined if it was deleted with its workspace */
export function toPluginInstallation(
  row: PluginInstallationRow,
  plugin: PluginRow | undefined,
  sealer: Sealer,
): WireInstallation {
  return {
    id: row.plugin_id,
    name: row.name,
    version: row.version,
    enabled: decodeBoolean(row.enabled),
    configuration: decodeJson(sealer.open(row.configuration)),
    interfaces: decodeJson(row.interfaces),
    integrations: decodeJson(row.integrations),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title: plugin?.title ?? '',
    description: plugin?.description ?? '',
    iconUrl: iconUrlOf(plugin?.icon ?? ''),
    readmeUrl: readmeUrlOf(plugin?.readme ?? ''),
    public: plugin?.visibility === 'public',
    visibility: plugin?.visibility ?? 'private',
    lifecycleStatus: 'published',
  }
}

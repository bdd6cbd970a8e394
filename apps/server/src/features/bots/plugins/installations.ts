import { ApiError, type Body, type contract } from '@botstead/contract'
import { findViolation } from '@botstead/json-schema'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import {
  type InstallableIntegration,
  type InstallationRow,
  storedIdOf,
} from '../installations/index.js'
import type { PluginDefinition } from './definition.js'
import type { PluginInstallationRow } from './installation-store.js'
import type { PluginRow } from './store.js'

export type PluginPatches = NonNullable<Body<typeof contract.bots.update>['plugins']>
type Patch = NonNullable<PluginPatches[string]>

/** The integration behind an interface of a plugin. */
interface InterfaceBinding {
  integrationId: string
  integrationAlias: string
  integrationInterfaceAlias?: string
  interfaceId: string
}

/** A change of a plugin in a bot: a creation without `before`, a removal without `after`. */
export interface PluginChange {
  before?: PluginInstallationRow
  after?: PluginInstallationRow
}

/** The bot whose plugins are changed, with what is installed in it. */
export interface PluginHost {
  botId: string
  workspaceId: string
  integrations: readonly InstallationRow[]
  /** The installed integrations, by id. */
  known: ReadonlyMap<string, InstallableIntegration>
}

interface Making {
  host: PluginHost
  now: string
  sealer: Sealer
}

const maxConfigurationBytes = 20_480
const maxPlugins = 30
/** States of a plugin have its alias before their name. */
const aliasPattern = /^[a-zA-Z0-9][a-zA-Z0-9/_.-]{0,98}$/

/**
 * The changes that a patch of `plugins` makes to what is installed. Removing what is not there changes nothing.
 * @param plugins those that the bot may install, by id
 */
export function changesOf(
  installed: readonly PluginInstallationRow[],
  patches: PluginPatches,
  plugins: ReadonlyMap<string, PluginRow>,
  making: Making,
): PluginChange[] {
  const changes: PluginChange[] = []
  for (const [alias, patch] of Object.entries(patches)) {
    const before = installed.find((row) => row.alias === alias)
    if (patch === null) {
      if (before !== undefined) changes.push({ before })
      continue
    }
    const field = `body.plugins.${alias}`
    requireAlias(alias, field)
    const plugin = plugins.get(patch.id)
    if (plugin === undefined) {
      throw new ApiError('ReferenceNotFound', `${field}: there is no plugin ${patch.id}.`)
    }
    const after = patched({ alias, before, patch, plugin, field }, making)
    changes.push({ ...(before && { before }), after })
  }
  const count = changes.reduce(
    (sum, { before, after }) => sum + Number(after !== undefined) - Number(before !== undefined),
    installed.length,
  )
  if (count <= maxPlugins) return changes
  throw new ApiError(
    'LimitExceeded',
    `body.plugins: a bot may have ${maxPlugins} plugins, not ${count}.`,
  )
}

interface Change {
  alias: string
  before: PluginInstallationRow | undefined
  patch: Patch
  plugin: PluginRow
  /** Path of the plugin in the body. */
  field: string
}

function patched(
  { alias, before, patch, plugin, field }: Change,
  { host, now, sealer }: Making,
): PluginInstallationRow {
  const definition = decodeJson<PluginDefinition>(plugin.definition)
  const { configuration, interfaces, integrations } = patch
  if (configuration !== undefined) checkConfiguration(field, plugin, definition, configuration)
  return {
    bot_id: host.botId,
    alias,
    workspace_id: host.workspaceId,
    plugin_id: plugin.id,
    name: plugin.name,
    version: plugin.version,
    enabled: patch.enabled === undefined ? (before?.enabled ?? 1) : encodeBoolean(patch.enabled),
    configuration:
      configuration === undefined
        ? (before?.configuration ?? sealer.seal(encodeJson({})))
        : sealer.seal(encodeJson(configuration)),
    interfaces:
      interfaces === undefined
        ? (before?.interfaces ?? encodeJson({}))
        : encodeJson(mapped(interfaces, field, 'interfaces', bindingIn(host, definition))),
    integrations:
      integrations === undefined
        ? (before?.integrations ?? encodeJson({}))
        : encodeJson(
            mapped(integrations, field, 'integrations', (given, path) => ({
              integrationId: given.integrationId,
              integrationAlias: requireInstalled(host, given, path).alias,
            })),
          ),
    created_at: before?.created_at ?? now,
    updated_at: now,
  }
}

function mapped<From, To>(
  map: Readonly<Record<string, From>>,
  field: string,
  part: string,
  change: (given: From, path: string, name: string) => To,
): Record<string, To> {
  const entries = Object.entries(map)
  return Object.fromEntries(
    entries.map(([name, given]) => [name, change(given, `${field}.${part}.${name}`, name)]),
  )
}

type GivenBinding = NonNullable<Patch['interfaces']>[string]

/** Makes the function that finds the integration behind an interface, and what it calls the interface. */
function bindingIn(host: PluginHost, { dependencies }: PluginDefinition) {
  return (given: GivenBinding, path: string, name: string): InterfaceBinding => {
    const row = requireInstalled(host, given, path)
    const { integrationInterfaceAlias: alias } = given
    const implemented = host.known.get(row.integration_id)?.interfaces ?? {}
    const wanted = Object.hasOwn(dependencies.interfaces, name)
      ? dependencies.interfaces[name]
      : undefined
    const found =
      alias === undefined
        ? Object.values(implemented).find(
            (each) => each.id === wanted?.id || each.name === wanted?.name,
          )
        : Object.hasOwn(implemented, alias)
          ? implemented[alias]
          : undefined
    if (found === undefined) {
      throw new ApiError(
        'ReferenceNotFound',
        `${path}: the integration ${row.alias} does not implement ${alias ?? 'this interface'}.`,
      )
    }
    return {
      integrationId: given.integrationId,
      integrationAlias: row.alias,
      ...(alias !== undefined && { integrationInterfaceAlias: alias }),
      interfaceId: found.id,
    }
  }
}

/** The installation that a plugin refers to; the alias may be left out. */
function requireInstalled(
  { integrations }: PluginHost,
  given: { integrationId: string; integrationAlias?: string },
  path: string,
): InstallationRow {
  const { integrationId: id, integrationAlias: alias } = given
  const row = integrations.find(
    (each) =>
      each.integration_id === storedIdOf(id) && (alias === undefined || each.alias === alias),
  )
  if (row !== undefined) return row
  const under = alias === undefined ? '' : ` as ${alias}`
  throw new ApiError(
    'ReferenceNotFound',
    `${path}: the integration ${id} is not installed${under} in this bot.`,
  )
}

function requireAlias(alias: string, field: string): void {
  if (aliasPattern.test(alias)) return
  throw new ApiError(
    'InvalidIdentifier',
    `${field}: an alias has at most 99 letters, digits, /, _, . and -, and begins with a letter or a digit.`,
  )
}

function checkConfiguration(
  field: string,
  { name }: PluginRow,
  definition: PluginDefinition,
  configuration: Record<string, unknown>,
): void {
  if (Buffer.byteLength(encodeJson(configuration)) > maxConfigurationBytes) {
    throw new ApiError(
      'LimitExceeded',
      `${field}.configuration must have at most ${maxConfigurationBytes} bytes of JSON.`,
    )
  }
  const violation = findViolation(definition.configuration.schema, configuration)
  if (violation === undefined) return
  const path = [field, 'configuration', violation.field].filter((part) => part !== '').join('.')
  throw new ApiError('InvalidDataFormat', `${path} ${violation.rule}, by the schema of ${name}.`)
}

import { decodeBoolean, decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { integrationIdOf } from '../installations/index.js'
import type { PluginRecord } from '../plugins/index.js'
import type { BotPatch } from './changes.js'
import type { BotDefinition } from './definition.js'
import type { BotRecord } from './record.js'

/**
 * The part of a bot that belongs to its code, as its versions keep it. Secrets, the configuration and integrations are
 * not part of it: people set them for the bot as it is now, whatever code it runs.
 */
export interface BotContent {
  /** Without the data of the configuration. */
  definition: BotDefinition
  /** By alias. Their code is in that of the bot. */
  plugins: Record<string, KeptPlugin>
  /** The installed integrations by alias, kept only to report differences later. */
  integrations: Record<string, { name: string; version: string }>
}

interface KeptPlugin {
  id: string
  enabled: boolean
  /** JSON, sealed. */
  configuration: string
  interfaces: Record<string, Binding>
  integrations: Record<string, Binding>
}

/** The integration that a plugin uses. */
interface Binding {
  integrationAlias: string
  integrationInterfaceAlias?: string
}

/** The content of a bot. */
export function contentOf({ bot, plugins, installations }: BotRecord): BotContent {
  const definition = decodeJson<BotDefinition>(bot.definition)
  return {
    definition: { ...definition, configuration: { ...definition.configuration, data: {} } },
    plugins: Object.fromEntries(plugins.map(({ row }) => [row.alias, toKept(row)])),
    integrations: Object.fromEntries(
      installations.map(({ alias, name, version }) => [alias, { name, version }]),
    ),
  }
}

function toKept(row: PluginRecord['row']): KeptPlugin {
  return {
    id: row.plugin_id,
    enabled: decodeBoolean(row.enabled),
    configuration: row.configuration,
    interfaces: bindingsIn(row.interfaces),
    integrations: bindingsIn(row.integrations),
  }
}

function bindingsIn(text: string): Record<string, Binding> {
  return Object.fromEntries(
    Object.entries(decodeJson<Record<string, Binding>>(text)).map(
      ([name, { integrationAlias, integrationInterfaceAlias }]) => [
        name,
        {
          integrationAlias,
          ...(integrationInterfaceAlias !== undefined && { integrationInterfaceAlias }),
        },
      ],
    ),
  )
}

/** The change that gives a bot a content again: what is not in the content is removed. */
export function patchTo(record: BotRecord, content: BotContent, sealer: Sealer): BotPatch {
  const current = decodeJson<BotDefinition>(record.bot.definition)
  const { definition } = content
  const recurring = definition.recurringEvents
  const events = definition.subscriptions.events
  return {
    states: replacing(current.states, definition.states),
    events: replacing(current.events, definition.events),
    actions: replacing(current.actions, definition.actions),
    // Declaring them anew would begin their schedules again.
    ...(encodeJson(recurring) !== encodeJson(current.recurringEvents) && {
      recurringEvents: replacing(current.recurringEvents, recurring),
    }),
    user: { tags: replacing(current.user.tags, definition.user.tags) },
    conversation: { tags: replacing(current.conversation.tags, definition.conversation.tags) },
    message: { tags: replacing(current.message.tags, definition.message.tags) },
    configuration: { schema: definition.configuration.schema },
    subscriptions: {
      events: events === null ? null : replacing(current.subscriptions.events ?? {}, events),
    },
    medias: definition.medias,
    plugins: pluginsTo(record, content, sealer),
  }
}

/** The patch that makes one map of another. */
function replacing<Value>(
  current: Readonly<Record<string, Value>>,
  wanted: Readonly<Record<string, Value>>,
): Record<string, Value | null> {
  const removed = Object.keys(current).filter((name) => !Object.hasOwn(wanted, name))
  return Object.fromEntries([...removed.map((name) => [name, null]), ...Object.entries(wanted)])
}

function pluginsTo(
  { plugins, installations }: BotRecord,
  content: BotContent,
  sealer: Sealer,
): NonNullable<BotPatch['plugins']> {
  const ids = new Map(installations.map((row) => [row.alias, integrationIdOf(row)]))
  // Integrations may have other versions now: the one under the alias counts.
  const bound = (bindings: Record<string, Binding>) =>
    Object.fromEntries(
      Object.entries(bindings).map(([name, binding]) => [
        name,
        {
          ...binding,
          integrationId: ids.get(binding.integrationAlias) ?? binding.integrationAlias,
        },
      ]),
    )
  const comparable = ({ configuration, ...kept }: KeptPlugin) =>
    encodeJson([kept, sealer.open(configuration)])
  const current = new Map(plugins.map(({ row }) => [row.alias, toKept(row)]))
  const removed = [...current.keys()].filter((alias) => !Object.hasOwn(content.plugins, alias))
  // Also a plugin that is gone stays, where nothing is to be changed.
  const changed = Object.entries(content.plugins).filter(([alias, kept]) => {
    const installed = current.get(alias)
    return installed === undefined || comparable(installed) !== comparable(kept)
  })
  return Object.fromEntries([
    ...removed.map((alias) => [alias, null]),
    ...changed.map(([alias, kept]) => [
      alias,
      {
        id: kept.id,
        enabled: kept.enabled,
        configuration: decodeJson<Record<string, unknown>>(sealer.open(kept.configuration)),
        interfaces: bound(kept.interfaces),
        integrations: bound(kept.integrations),
      },
    ]),
  ])
}

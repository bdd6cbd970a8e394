import { type Awaitable, after } from '../../../platform/awaitable.js'
import type { Clock } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { Meter } from '../../tenancy/metering/index.js'
import { builtInChat, chatShapes, namesOfChat } from '../built-in-chat/index.js'
import { type InstallationRow, isBuiltIn, listInstallations } from '../installations/index.js'
import type { IntegrationDefinition, KnownIntegrations } from '../integrations/index.js'
import type { InstalledPlugin, PluginDefinition, PluginsInBots } from '../plugins/index.js'
import type { BotDefinition } from './definition.js'
import { findBotProfile } from './store.js'

/** The declarations and installations of a bot, which decide what happens in it and who is notified. */
export interface BotProfile {
  /** Whether the bot has an address, or code that runs here. */
  readonly listens: boolean
  /** Whether there is a quota of its messages and events. */
  readonly hasCallQuota: boolean
  /** Whether the bot wants events of a type. */
  wants(type: string): boolean
  /** Whether an installation has a server of its own that messages are sent to. */
  delivers(alias: string): boolean
  /** The state that the bot declares; undefined if it declares none. */
  stateOf(type: string, name: string): DeclaredState | undefined
  /** The JSON Schema that the bot declares for an event of its own or of a plugin, if any. */
  eventOf(name: string): Record<string, unknown> | undefined
  /** The bot's declaration of an action of its own or of a plugin; undefined if there is none. */
  actionOf(name: string): DeclaredAction | undefined
  /** The integration that is installed under an alias. */
  installationOf(alias: string): InstalledAs | undefined
  /**
   * The installation whose actions are called by an alias: bots that were written for a web chat call the chat by
   * another name, unless something is installed under it.
   */
  calledAs(alias: string): InstalledAs | undefined
  /** The messages of a channel of an installation, by type; undefined if it declares none, or is not installed. */
  messagesOf(alias: string, channel: string): DeclaredMessages | undefined
  /** Whether an integration is installed, by its id. */
  hasIntegration(id: string): boolean
  /** Resolves an alias or the name of an integration to an alias; returns unknown text unchanged. */
  aliasFor(aliasOrName: string): string
}

/** The declaration of an action. */
export type DeclaredAction = BotDefinition['actions'][string]

/** The messages of a channel, by type. */
type DeclaredMessages = Readonly<Record<string, { schema: Record<string, unknown> }>>

/** An integration as a bot knows it. */
export interface InstalledAs {
  integrationId: string
  name: string
  /** Whether the installation is switched on. */
  enabled: boolean
  /** Whether it comes with the server, which acts for it itself. */
  isBuiltIn: boolean
  /** Undefined for what is built in. */
  declares: IntegrationDefinition | undefined
}

/** The declaration of a state. */
export interface DeclaredState {
  /** JSON Schema of the payload. */
  schema: Record<string, unknown>
  /** Milliseconds without a change after which the state expires by default. */
  expiry: number | undefined
}

/** The profiles of bots, cached for a few seconds. */
export interface BotProfiles {
  /** The profile of a bot; an empty one if there is no such bot. */
  of(botId: string): Awaitable<BotProfile>
  /** Called when a bot or one of its installations was changed or removed. */
  forget(botId: string): void
}

/** The profile of a bot that does not exist. */
const emptyProfile: BotProfile = {
  listens: false,
  hasCallQuota: false,
  wants: () => false,
  delivers: () => false,
  stateOf: () => undefined,
  eventOf: () => undefined,
  actionOf: () => undefined,
  installationOf: () => undefined,
  calledAs: () => undefined,
  messagesOf: () => undefined,
  hasIntegration: () => false,
  aliasFor: (aliasOrName) => aliasOrName,
}

export interface BotProfilesDeps {
  db: Db
  clock: Clock
  integrations: Pick<KnownIntegrations, 'of'>
  plugins: Pick<PluginsInBots, 'declaredIn'>
  meter: Pick<Meter, 'hasCallQuota'>
}

/**
 * Makes the cache of profiles, which reads a bot with its installations and what they declare.
 * `forget` clears this process only; others notice a change when their copy expires.
 */
export function createBotProfiles({
  db,
  clock,
  integrations,
  plugins,
  meter,
}: BotProfilesDeps): BotProfiles {
  const cached = createFactCache<BotProfile>({
    clock,
    read: async (botId) => {
      const bot = await findBotProfile(db, botId)
      if (bot === undefined) return undefined
      const installed = await listInstallations(db, botId)
      const declared = await Promise.all(
        installed.map(async (row) =>
          isBuiltIn(row) ? undefined : (await integrations.of(row.integration_id))?.definition,
        ),
      )
      return toBotProfile(
        bot,
        installed.map((row, at) => ({ ...row, declares: declared[at] })),
        await plugins.declaredIn(botId),
        await meter.hasCallQuota({ workspaceId: bot.workspace_id, botId }),
      )
    },
  })
  return {
    of: (botId) => after(cached.get(botId), (found) => found ?? emptyProfile),
    forget: (botId) => cached.forgetGroup(botId),
  }
}

/** Whether a bot wants events of a type, by its definition. */
export function wantsOf({
  subscriptions,
}: Pick<BotDefinition, 'subscriptions'>): BotProfile['wants'] {
  const types = subscriptions.events && new Set(Object.keys(subscriptions.events))
  return (type) => types === null || types.has(type)
}

/** An action of a plugin whose definition was deleted with its workspace: its code is still part of the bot. */
const undescribed: DeclaredAction = { input: { schema: {} }, output: { schema: {} } }

/** The declarations of plugins of one kind, under the names that the code of the bot uses: `<alias>#<name>`. */
function ofPlugins<Part extends 'states' | 'events' | 'actions'>(
  plugins: readonly InstalledPlugin[],
  part: Part,
): Record<string, PluginDefinition[Part][string]> {
  return Object.fromEntries(
    plugins.flatMap(({ alias, declares }) =>
      Object.entries(declares?.[part] ?? {}).map(([name, each]) => [`${alias}#${name}`, each]),
    ),
  )
}

function toBotProfile(
  bot: { url: string | null; deployment_id: string | null; definition: string },
  installations: readonly (InstallationRow & Pick<InstalledAs, 'declares'>)[],
  plugins: readonly InstalledPlugin[],
  hasCallQuota: boolean,
): BotProfile {
  const own = decodeJson<BotDefinition>(bot.definition)
  const { subscriptions } = own
  const lost = plugins.filter(({ declares }) => declares === undefined).map(({ alias }) => alias)
  const states = { ...ofPlugins(plugins, 'states'), ...own.states }
  const actions = { ...ofPlugins(plugins, 'actions'), ...own.actions }
  const events = { ...ofPlugins(plugins, 'events'), ...own.events }
  const installed = new Map(
    installations.map((row) => [
      row.alias,
      {
        integrationId: row.integration_id,
        name: row.name,
        enabled: row.enabled === 1,
        isBuiltIn: isBuiltIn(row),
        declares: row.declares,
      },
    ]),
  )
  const remote = new Set(
    installations.filter((row) => row.enabled === 1 && !isBuiltIn(row)).map(({ alias }) => alias),
  )
  return {
    listens: bot.url !== null || bot.deployment_id !== null,
    hasCallQuota,
    wants: wantsOf({ subscriptions }),
    delivers: (alias) => remote.has(alias),
    stateOf(type, name) {
      const state = Object.hasOwn(states, name) ? states[name] : undefined
      if (state?.type !== type) return undefined
      return { schema: state.schema, expiry: state.expiry }
    },
    eventOf: (name) => (Object.hasOwn(events, name) ? events[name]?.schema : undefined),
    actionOf(name) {
      if (Object.hasOwn(actions, name)) return actions[name]
      return lost.some((alias) => name.startsWith(`${alias}#`)) ? undescribed : undefined
    },
    installationOf: (alias) => installed.get(alias),
    calledAs(alias) {
      const found = installed.get(alias)
      return found === undefined && namesOfChat.has(alias)
        ? installed.get(builtInChat.alias)
        : found
    },
    messagesOf(alias, channel) {
      const found = installed.get(alias)
      if (found?.isBuiltIn) return chatShapes
      const channels = found?.declares?.channels ?? {}
      return Object.hasOwn(channels, channel) ? channels[channel]?.messages : undefined
    },
    hasIntegration: (id) => installations.some((row) => row.integration_id === id),
    aliasFor(aliasOrName) {
      if (installed.has(aliasOrName)) return aliasOrName
      const named = installations.find(({ name }) => name === aliasOrName)
      return named?.alias ?? aliasOrName
    },
  }
}

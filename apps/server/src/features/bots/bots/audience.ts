import type { Awaitable } from '../../../domain/authenticator.js'
import type { Clock } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import { builtInChat, type InstallationRow, listInstallations } from '../installations/index.js'
import type { IntegrationDefinition, KnownIntegrations } from '../integrations/index.js'
import type { BotDefinition } from './definition.js'
import { findAudience } from './store.js'

/** Who has to be told of what happens in a bot. */
export interface Audience {
  /** Whether the bot has a server of its own. */
  readonly listens: boolean
  /** Whether the bot wants events of a type. */
  wants(type: string): boolean
  /** Whether an installation has a server of its own that messages are sent to. */
  delivers(alias: string): boolean
  /** What the bot declares of a state; undefined if it does not. */
  stateOf(type: string, name: string): DeclaredState | undefined
  /** JSON Schema that the bot declares for an event of its own or of a plugin, if it does. */
  eventOf(name: string): Record<string, unknown> | undefined
  /** What the bot declares of an action of its own or of a plugin; undefined if it does not. */
  actionOf(name: string): DeclaredAction | undefined
  /** What is installed under an alias. */
  installationOf(alias: string): InstalledAs | undefined
  /** Whether an integration is installed, by its id. */
  hasIntegration(id: string): boolean
  /** The alias that an alias or the name of an integration means; the text itself if it means none. */
  aliasFor(aliasOrName: string): string
}

/** What is declared of an action. */
export type DeclaredAction = BotDefinition['actions'][string]

/** An integration as a bot knows it. */
export interface InstalledAs {
  integrationId: string
  name: string
  /** Whether it takes part. */
  enabled: boolean
  /** Undefined for what is built in. */
  declares: IntegrationDefinition | undefined
}

/** What a bot declares of a state. */
export interface DeclaredState {
  /** JSON Schema of the payload. */
  schema: Record<string, unknown>
  /** Milliseconds without a change after which it expires unless said otherwise. */
  expiry: number | undefined
}

/** Audiences from memory, when the bot was asked for within the last seconds. */
export interface Audiences {
  of(botId: string): Awaitable<Audience>
  /** To be told when a bot or what is installed in it was changed or removed. */
  forget(botId: string): void
}

/** Of a bot that is gone. */
const nobody: Audience = {
  listens: false,
  wants: () => false,
  delivers: () => false,
  stateOf: () => undefined,
  eventOf: () => undefined,
  actionOf: () => undefined,
  installationOf: () => undefined,
  hasIntegration: () => false,
  aliasFor: (aliasOrName) => aliasOrName,
}

export interface AudiencesDeps {
  db: Db
  clock: Clock
  integrations: Pick<KnownIntegrations, 'of'>
}

export function createAudiences({ db, clock, integrations }: AudiencesDeps): Audiences {
  const known = createFactCache<Audience>({
    clock,
    read: async (botId) => {
      const bot = await findAudience(db, botId)
      if (bot === undefined) return undefined
      const installed = await listInstallations(db, botId)
      const declared = await Promise.all(
        installed.map(async ({ integration_id: id }) =>
          id === builtInChat.id ? undefined : (await integrations.of(id))?.definition,
        ),
      )
      return toAudience(
        bot,
        installed.map((row, at) => ({ ...row, declares: declared[at] })),
      )
    },
  })
  return {
    of(botId) {
      const audience = known.get(botId)
      return audience instanceof Promise
        ? audience.then((found) => found ?? nobody)
        : (audience ?? nobody)
    },
    forget: (botId) => known.forget((id) => id === botId),
  }
}

/** Whether a bot wants events of a type, by its definition. */
export function wantsOf({
  subscriptions,
}: Pick<BotDefinition, 'subscriptions'>): Audience['wants'] {
  const types = subscriptions.events && new Set(Object.keys(subscriptions.events))
  return (type) => types === null || types.has(type)
}

function toAudience(
  bot: { url: string | null; definition: string },
  installations: readonly (InstallationRow & Pick<InstalledAs, 'declares'>)[],
): Audience {
  const { subscriptions, states, actions, events } = decodeJson<BotDefinition>(bot.definition)
  const installed = new Map(
    installations.map(({ alias, name, integration_id, enabled, declares }) => [
      alias,
      { integrationId: integration_id, name, enabled: enabled === 1, declares },
    ]),
  )
  const remote = new Set(
    installations
      .filter((row) => row.enabled === 1 && row.integration_id !== builtInChat.id)
      .map(({ alias }) => alias),
  )
  return {
    listens: bot.url !== null,
    wants: wantsOf({ subscriptions }),
    delivers: (alias) => remote.has(alias),
    stateOf(type, name) {
      const state = Object.hasOwn(states, name) ? states[name] : undefined
      if (state?.type !== type) return undefined
      return { schema: state.schema, expiry: state.expiry }
    },
    eventOf: (name) => (Object.hasOwn(events, name) ? events[name]?.schema : undefined),
    actionOf: (name) => (Object.hasOwn(actions, name) ? actions[name] : undefined),
    installationOf: (alias) => installed.get(alias),
    hasIntegration: (id) => installations.some((row) => row.integration_id === id),
    aliasFor(aliasOrName) {
      if (installed.has(aliasOrName)) return aliasOrName
      const named = installations.find(({ name }) => name === aliasOrName)
      return named?.alias ?? aliasOrName
    },
  }
}

import type { Awaitable } from '../../platform/authenticator.js'
import type { Clock } from '../../platform/clock.js'
import { decodeJson } from '../../platform/db/columns.js'
import { createFactCache } from '../../platform/fact-cache.js'
import type { Db } from '../../schema.js'
import { builtInChat } from './built-in-chat.js'
import type { BotDefinition } from './definition.js'
import { listInstallations } from './installation-store.js'
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
  /** What the bot declares of an action of its own or of a plugin; undefined if it does not. */
  actionOf(name: string): DeclaredAction | undefined
  /** What is installed under an alias. */
  installationOf(alias: string): InstalledAs | undefined
}

/** What is declared of an action. */
export type DeclaredAction = BotDefinition['actions'][string]

/** An integration as a bot knows it. */
interface InstalledAs {
  integrationId: string
  /** Whether it takes part. */
  enabled: boolean
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
  actionOf: () => undefined,
  installationOf: () => undefined,
}

export function createAudiences({ db, clock }: { db: Db; clock: Clock }): Audiences {
  const known = createFactCache<Audience>({
    clock,
    read: async (botId) => {
      const bot = await findAudience(db, botId)
      return bot && toAudience(bot, await listInstallations(db, botId))
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

function toAudience(
  bot: { url: string | null; definition: string },
  installations: Awaited<ReturnType<typeof listInstallations>>,
): Audience {
  const { subscriptions, states, actions } = decodeJson<BotDefinition>(bot.definition)
  const types = subscriptions.events && new Set(Object.keys(subscriptions.events))
  const installed = new Map(
    installations.map(({ alias, integration_id, enabled }) => [
      alias,
      { integrationId: integration_id, enabled: enabled === 1 },
    ]),
  )
  const remote = new Set(
    installations
      .filter((row) => row.enabled === 1 && row.integration_id !== builtInChat.id)
      .map(({ alias }) => alias),
  )
  return {
    listens: bot.url !== null,
    wants: (type) => types === null || types.has(type),
    delivers: (alias) => remote.has(alias),
    stateOf(type, name) {
      const state = Object.hasOwn(states, name) ? states[name] : undefined
      if (state?.type !== type) return undefined
      return { schema: state.schema, expiry: state.expiry }
    },
    actionOf: (name) => (Object.hasOwn(actions, name) ? actions[name] : undefined),
    installationOf: (alias) => installed.get(alias),
  }
}

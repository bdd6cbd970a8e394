import type { Awaitable } from '../../../domain/authenticator.js'
import { type Receiver, receiverKey, receiverOf } from '../../../domain/deliveries.js'
import type { Clock } from '../../../platform/clock.js'
import { afterCommit } from '../../../platform/db/commit-hooks.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { Feature } from '../../feature.js'

/** The address of a receiver, and what every call to it carries. */
export interface Target {
  url: string
  /** Headers that identify the receiver and carry its configuration. */
  headers: Readonly<Record<string, string>>
  /** Secrets that sign the calls, the newest first; the older one while they are rotated. */
  secrets: readonly string[]
  /** Milliseconds that it may take for a response. */
  timeoutMs: number
  /**
   * Whether it is the webhook of an app, which gets bodies without the headers of operations. It does
   * not support pings either: while it is paused, its oldest delivery is tried instead.
   */
  plain?: boolean
}

/** Returns the target of a bot, or of an installation in it; undefined without an address. */
type FindTarget = (botId: string) => Promise<Target | undefined>

/** Targets of receivers, cached for some seconds. */
export interface Targets extends Feature {
  /** Undefined if the receiver is gone, or has no address. */
  of(receiver: Receiver): Awaitable<Target | undefined>
  /** Clears the cached targets of a bot and its installations. */
  forget(botId: string): void
  /**
   * Makes `find` return the targets of installations with this alias, instead of the integrations.
   */
  provide(alias: string, find: FindTarget): void
}

export interface TargetsDeps {
  clock: Clock
  bots: Pick<BotsService, 'findServer'>
  /** Reads the target of an installation; undefined if it is gone, or has no address. */
  findInstallationTarget: (receiver: Receiver) => Promise<Target | undefined>
}

export function createTargets(deps: TargetsDeps): Targets {
  const provided = new Map<string, FindTarget>()

  function findTarget(receiver: Receiver): Promise<Target | undefined> {
    const { botId, integration } = receiver
    const find = provided.get(integration)
    if (find !== undefined) return find(botId)
    return integration === ''
      ? findBotTarget(deps.bots, botId)
      : deps.findInstallationTarget(receiver)
  }

  // Having no target is cached too, and forgotten as soon as there is one.
  const known = createFactCache<{ target: Target | undefined }>({
    clock: deps.clock,
    read: async (key) => ({ target: await findTarget(receiverOf(key)) }),
  })

  function forget(botId: string): void {
    known.forget((key) => key.startsWith(`${botId}/`))
  }

  return {
    name: 'targets',
    on: {
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => forget(botId)),
    },
    forget,
    of(receiver) {
      const found = known.get(receiverKey(receiver))
      return found instanceof Promise ? found.then((fact) => fact?.target) : found?.target
    },
    provide(alias, find) {
      provided.set(alias, find)
    },
  }
}

/** Seconds that a call to a bot may take unless the bot declares otherwise. */
const defaultSeconds = 60
/** Most seconds that a call may take, whatever the bot declares. */
const maxSeconds = 15 * 60

/** Returns how the server of a bot is called; undefined if it has none. */
export async function findBotTarget(
  bots: Pick<BotsService, 'findServer'>,
  botId: string,
): Promise<Target | undefined> {
  const server = await bots.findServer(botId)
  if (server === undefined) return undefined
  return {
    url: server.url,
    headers: { 'x-bot-id': botId, 'x-bp-configuration': toHeader(server.configuration) },
    secrets: server.secrets,
    timeoutMs: Math.min(server.maxExecutionTime || defaultSeconds, maxSeconds) * 1000,
  }
}

/** Encodes a configuration for a header. */
function toHeader(configuration: Record<string, unknown>): string {
  // The SDK of bots expects an object whose member `payload` is the configuration as text.
  const wrapped = { payload: JSON.stringify(configuration) }
  return Buffer.from(JSON.stringify(wrapped)).toString('base64')
}

import { type Receiver, receiverKey, receiverOf } from '../../../domain/deliveries.js'
import { type Awaitable, after } from '../../../platform/awaitable.js'
import type { Clock } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { CodeOwner } from '../../bots/deployments/index.js'
import {
  findInstallation,
  type InstallationRow,
  isBuiltIn,
} from '../../bots/installations/index.js'
import type { KnownIntegrations } from '../../bots/integrations/index.js'
import type { Feature } from '../../feature.js'

/** The destination of calls to a receiver: an address, or code that runs at this server. */
export type CallAddress = { readonly url: string } | { readonly code: CodeOwner }

/** The destination of calls to a receiver, with the headers and secrets of each call. */
export interface Target {
  at: CallAddress
  /** Headers that identify the receiver and carry its configuration. */
  headers: Readonly<Record<string, string>>
  /** Secrets that sign the calls, the newest first; two while they are rotated. */
  secrets: readonly string[]
  /** Milliseconds that a response may take. */
  timeoutMs: number
  /**
   * Whether it is the webhook of a chat, which gets bodies without the headers of operations. It does not
   * support pings either: while it is paused, its oldest delivery is tried instead.
   */
  plain?: boolean
  /**
   * Whether it is the server of an integration of another workspace than that of the bot, which sees neither its
   * address nor the signatures of calls to it.
   */
  isForeign?: boolean
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
   * Finds the targets of installations with this alias by `find`, instead of by their integrations.
   */
  provide(alias: string, find: FindTarget): void
}

export interface TargetsDeps {
  clock: Clock
  bots: Pick<BotsService, 'findServer'>
  /** Reads the target of an installation; undefined if it is gone, or has no address. */
  findInstallationTarget: (receiver: Receiver) => Promise<Target | undefined>
}

/** The targets of one process. A change of a bot clears its cached targets. */
export function createTargets({ clock, bots, findInstallationTarget }: TargetsDeps): Targets {
  const provided = new Map<string, FindTarget>()

  // Wrapped in an object, so that the lack of a target is cached too.
  const known = createFactCache<{ target: Target | undefined }>({
    clock,
    groupOf: (key) => receiverOf(key).botId,
    async read(key) {
      const receiver = receiverOf(key)
      const { botId, integration } = receiver
      const find = provided.get(integration)
      if (find !== undefined) return { target: await find(botId) }
      if (integration === '') return { target: await findBotTarget(bots, botId) }
      return { target: await findInstallationTarget(receiver) }
    },
  })

  function forget(botId: string): void {
    known.forgetGroup(botId)
  }

  return {
    name: 'targets',
    on: {
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => forget(botId)),
    },
    forget,
    of: (receiver) => after(known.get(receiverKey(receiver)), (fact) => fact?.target),
    provide(alias, find) {
      provided.set(alias, find)
    },
  }
}

/** Seconds that a call to a bot may take unless the bot declares otherwise. */
const defaultSeconds = 60
/** Maximum seconds that a call may take, whatever the bot declares. */
const maxSeconds = 15 * 60

/** Returns how the server of a bot is called; undefined if it has none. */
export async function findBotTarget(
  bots: Pick<BotsService, 'findServer'>,
  botId: string,
): Promise<Target | undefined> {
  const server = await bots.findServer(botId)
  if (server === undefined) return undefined
  return {
    at: server.url === undefined ? { code: { type: 'bot', id: botId } } : { url: server.url },
    headers: {
      'x-bot-id': botId,
      // The SDK of bots expects an object whose member `payload` is the configuration as text.
      'x-bp-configuration': toHeader({ payload: JSON.stringify(server.configuration) }),
    },
    secrets: server.secrets,
    timeoutMs: Math.min(server.maxExecutionTime || defaultSeconds, maxSeconds) * 1000,
  }
}

export interface IntegrationTargetDeps {
  db: Db
  sealer: Sealer
  integrations: { known: Pick<KnownIntegrations, 'of'> }
}

/** Returns how an installed integration is called; undefined if it is switched off, or has no server. */
export async function findIntegrationTarget(
  deps: IntegrationTargetDeps,
  { botId, integration: alias }: Receiver,
): Promise<Target | undefined> {
  const row = await findInstallation(deps.db, botId, alias)
  if (row === undefined || row.enabled !== 1 || isBuiltIn(row)) return undefined
  return await targetOfInstallation(deps, row)
}

/** Like {@link findIntegrationTarget} for a row of an installation, whether it is switched on or not. */
export async function targetOfInstallation(
  { sealer, integrations }: Omit<IntegrationTargetDeps, 'db'>,
  row: InstallationRow,
): Promise<Target | undefined> {
  const integration = await integrations.known.of(row.integration_id)
  if (integration === undefined) return undefined
  const { url, isHosted, id } = integration
  if (url === undefined && !isHosted) return undefined
  const { bot_id: botId, configuration_type: type } = row
  return {
    at: url === undefined ? { code: { type: 'integration', id } } : { url },
    headers: {
      'x-bot-id': botId,
      // The bot is one of its own users: the author of its messages.
      'x-bot-user-id': botId,
      'x-integration-id': row.integration_id,
      'x-integration-alias': row.alias,
      'x-webhook-id': row.webhook_id,
      'x-bp-configuration': toHeader(decodeJson(sealer.open(row.configuration))),
      ...(type !== null && { 'x-bp-configuration-type': encodeURI(type) }),
    },
    secrets: integration.secrets,
    timeoutMs: integration.timeoutMs,
    isForeign: integration.workspaceId !== row.workspace_id,
  }
}

/** Encodes a configuration for a header. */
function toHeader(configuration: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify(configuration)).toString('base64')
}

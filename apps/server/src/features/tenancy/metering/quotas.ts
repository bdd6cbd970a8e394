import { ApiError, quotaTypes } from '@botstead/contract'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import * as store from './store.js'

/** A type of usage that people can limit. */
export type QuotaType = (typeof quotaTypes)[number]

/** The used amount of a quota, and its maximum. */
export interface Use {
  type: QuotaType
  /** Whether the quota is that of the bot or that of its workspace. */
  of: 'bot' | 'workspace'
  /** Including `added`. */
  used: number
  added: number
  allowed: number
}

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A bot, or a bot for its workspace, used four fifths or all of a quota; subscribers tell people. */
    'quota.nearlyUsed': { botId: string; use: Use }
  }
}

/** The quotas that the server sets for every workspace. */
export type ServerQuotas = Readonly<Partial<Record<QuotaType, number>>>

export interface QuotasDeps {
  domainEvents: Pick<EventDispatcher, 'raise'>
  serverQuotas: ServerQuotas
}

/** The used part of a quota at which people are told. */
const warnedPart = 0.8

/** The names of the quotas: `id` for programs, the rest for people. */
const names: Record<QuotaType, { id: string; name: string; unit: string }> = {
  invocation_calls: { id: 'call', name: 'message and event', unit: 'messages and events' },
  storage_count: { id: 'storage', name: 'storage', unit: 'bytes' },
  knowledgebase_vector_storage: { id: 'vector', name: 'indexed storage', unit: 'bytes' },
  bot_count: { id: 'bot', name: 'bot', unit: 'bots' },
  workspace_member_count: { id: 'member', name: 'member', unit: 'members and open invitations' },
  integrations_owned_count: { id: 'integration', name: 'integration', unit: 'integrations' },
}

/** The used amount and the maximum, such as `9 of 10 messages and events used this month`. */
function amountOf(type: QuotaType, used: number, allowed: number): string {
  const month = type === 'invocation_calls' ? ' this month' : ''
  return `${used} of ${allowed} ${names[type].unit} used${month}`
}

/** The quotas of a workspace and of one of its bots, by type; where the server has one too, the smaller one counts. */
export async function quotasOf(
  { serverQuotas }: Pick<QuotasDeps, 'serverQuotas'>,
  executor: Db | Tx,
  workspaceId: string,
  botId?: string,
) {
  const workspace = new Map<QuotaType, number>()
  for (const type of quotaTypes) {
    const server = serverQuotas[type]
    if (server !== undefined) workspace.set(type, server)
  }
  const bot = new Map<QuotaType, number>()
  for (const row of await store.listQuotas(executor, workspaceId, botId)) {
    const type = quotaTypes.find((each) => each === row.type)
    if (type === undefined) continue
    if (row.botId !== '') bot.set(type, row.value)
    else workspace.set(type, Math.min(workspace.get(type) ?? row.value, row.value))
  }
  return { workspace, bot }
}

/**
 * Refuses what exceeds a quota, and tells people when four fifths are used, and again when all of it is.
 * @param mayRefuse whether it is refused, or only counted, because it was promised before
 * @throws ApiError `QuotaExceeded`
 */
export async function applyQuota(
  { domainEvents }: Pick<QuotasDeps, 'domainEvents'>,
  tx: Tx,
  botId: string,
  use: Use,
  mayRefuse = true,
): Promise<void> {
  const { used, added, allowed } = use
  // Usage may always shrink, even if it exceeds the quota.
  if (added <= 0) return
  if (used > allowed && mayRefuse) throw exceeded(use)
  const isReached = (amount: number) => used >= amount && used - added < amount
  if (isReached(allowed * warnedPart) || isReached(allowed)) {
    await domainEvents.raise(tx, 'quota.nearlyUsed', { botId, use })
  }
}

/**
 * Refuses to create one more object in a workspace than its quota allows. Creations wait for each other.
 * @param count counts those that there are
 * @throws ApiError `QuotaExceeded`
 */
export async function requireRoomFor(
  deps: Pick<QuotasDeps, 'serverQuotas'>,
  tx: Tx,
  workspaceId: string,
  type: QuotaType,
  count: () => Promise<number>,
): Promise<void> {
  const allowed = (await quotasOf(deps, tx, workspaceId)).workspace.get(type)
  if (allowed === undefined) return
  await dialectOf(tx).holdName(tx, `quota ${workspaceId} ${type}`)
  const used = (await count()) + 1
  if (used > allowed) throw exceeded({ type, of: 'workspace', used, added: 1, allowed })
}

function exceeded(use: Use): ApiError {
  const { type, of, added, allowed } = use
  const { id, name } = names[type]
  const used = use.used - added
  return new ApiError(
    'QuotaExceeded',
    `The ${of} would exceed its ${name} quota: ${amountOf(type, used, allowed)}, ${added} more requested.`,
    { metadata: { quota: id, of, used, asked: added, allowed } },
  )
}

/** The line in the log of a bot about a quota that is used up, or nearly. */
export function textOf({ type, of, used, allowed }: Use): string {
  const percent = Math.floor((used / allowed) * 100)
  const { name } = names[type]
  const amount = amountOf(type, used, allowed)
  if (used >= allowed) {
    return `The ${of} has used up its ${name} quota: ${amount}. Further requests are refused.`
  }
  return `The ${of} has reached ${percent} % of its ${name} quota: ${amount}. Requests that exceed the quota are refused.`
}

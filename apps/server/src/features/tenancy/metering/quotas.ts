import { ApiError, quotaTypes } from '@botstead/contract'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import * as store from './store.js'

/** What can be limited. */
export type QuotaType = (typeof quotaTypes)[number]

/** What a workspace or a bot has used, and may use at most. */
export interface Use {
  type: QuotaType
  /** Whether the quota is that of the bot or that of its workspace. */
  of: 'bot' | 'workspace'
  /** With what is added. */
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

/** The names of the quotas, and what they count. */
const names: Record<QuotaType, { name: string; unit: string }> = {
  invocation_calls: { name: 'call', unit: 'messages and events of this month' },
  storage_count: { name: 'storage', unit: 'bytes' },
  knowledgebase_vector_storage: { name: 'vector', unit: 'bytes' },
  bot_count: { name: 'bot', unit: 'bots' },
  workspace_member_count: { name: 'member', unit: 'members and open invitations' },
  integrations_owned_count: { name: 'integration', unit: 'integrations' },
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
  // What is used may always shrink, also where the quota is below it.
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
  const { name, unit } = names[type]
  const used = use.used - added
  return new ApiError(
    'QuotaExceeded',
    `The ${name} quota of the ${of} does not suffice: ${used} ${unit} are used, ${added} more are needed, ${allowed} are allowed.`,
    { metadata: { quota: name, of, used, asked: added, allowed } },
  )
}

/** What people are told about a quota that is used, or nearly. */
export function textOf({ type, of, used, allowed }: Use): string {
  const { name, unit } = names[type]
  const percent = Math.floor((used / allowed) * 100)
  if (used >= allowed) {
    return `The ${of} has used up its ${name} quota: ${used} of ${allowed} ${unit}. More is refused.`
  }
  return `The ${of} has used ${percent} % of its ${name} quota: ${used} of ${allowed} ${unit}. What exceeds it is refused.`
}

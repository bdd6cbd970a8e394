import { contract, type Output } from '@botstead/contract'
import type { Config } from '../../../config/config.js'
import { limitSettings, serverSettings } from '../../../config/settings.js'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { route } from '../../../http/mount.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import type { UpTo } from '../../../platform/db/time-ranges.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import { sumConversations } from '../../conversations/conversations/index.js'
import { sumMessages } from '../../conversations/messages/index.js'
import type { Feature } from '../../feature.js'
import { findFileUsage, sumFiles } from '../../files/index.js'
import type { Memberships } from '../../tenancy/access/index.js'
import { sumCalls } from '../../tenancy/metering/index.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'

interface LimitsDeps {
  db: Db
  clock: Clock
  config: Pick<Config, 'limits' | 'rateLimit'>
  workspaces: Pick<WorkspacesService, 'get'>
  memberships: Memberships
  bots: Pick<BotsService, 'idsIn'>
  integrations: Pick<IntegrationsService, 'idsIn'>
}

type Limit = Output<typeof contract.limits.list>['limits'][number]

/** Maximum of a count; more objects are not counted. */
const maxCounted = 100_000

/** The limits and the usage of workspaces. */
export function createLimits(deps: LimitsDeps): Feature {
  const { db } = deps

  async function list(actor: WorkspaceActor, id: string): Promise<Limit[]> {
    const { workspace } = await deps.workspaces.get(actor, id)
    const workspaceId = workspace.id
    // The workspace of the path may be another one than that of the header, with other bots that the caller may see.
    const { limits } = actor.rights
    const rights = await deps.memberships.rightsIn(actor.accountId, workspaceId, limits)
    if (rights === undefined) throw notFound('workspace', id, 'among those of the caller')
    const [botIds, integrationIds, usage] = await Promise.all([
      deps.bots.idsIn({ workspaceId, rights }),
      deps.integrations.idsIn(workspaceId),
      findFileUsage(db, workspaceId),
    ])
    const counted = async (
      name: Limit['name'],
      description: string,
      sum: (db: Db, botIds: readonly string[], max: number) => Promise<UpTo>,
    ): Promise<Limit> => {
      const { count: used, isExact } = await sum(db, botIds, maxCounted)
      return { name, description, unit: 'count', used, isExact }
    }
    const { storageQuotaBytes, vectorQuotaBytes } = limitSettings
    return [
      {
        ...quota('storage', storageQuotaBytes, usage.storage),
        limit: deps.config.limits.storageQuotaBytes,
      },
      {
        ...quota('indexedStorage', vectorQuotaBytes, usage.vector),
        limit: deps.config.limits.vectorQuotaBytes,
      },
      ...(await calls(workspaceId)),
      exact('bots', 'Bots of the workspace that you may see.', botIds.length),
      exact('integrations', 'Integrations of the workspace.', integrationIds.length),
      await counted('files', 'Files of these bots.', sumFiles),
      await counted('conversations', 'Conversations of these bots.', sumConversations),
      await counted('messages', 'Messages of these bots.', sumMessages),
      ...singleLimits(deps.config),
    ]
  }

  /** The quota of messages and events in a month, if the server has one. */
  async function calls(workspaceId: string): Promise<Limit[]> {
    const limit = deps.config.limits.callQuota
    if (limit === undefined) return []
    const { name: setting, meaning: description } = limitSettings.callQuota
    const month = isoTime(deps.clock.now()).slice(0, 7)
    const used = await sumCalls(db, { workspaceId, botId: '' }, month)
    return [{ name: 'calls', description, unit: 'count', used, isExact: true, limit, setting }]
  }

  return {
    name: 'limits',
    routes: [
      route(contract.limits.list, async ({ actor, params }) => ({
        limits: await list(actor, params.id),
      })),
    ],
  }
}

type Described = { name: string; meaning: string }

function quota(name: Limit['name'], { name: setting, meaning }: Described, used: number): Limit {
  return { name, description: meaning, unit: 'bytes', used, isExact: true, setting }
}

function exact(name: Limit['name'], description: string, used: number): Limit {
  return { name, description, unit: 'count', used, isExact: true }
}

/** Limits of one object or one request. */
function singleLimits({ limits, rateLimit }: LimitsDeps['config']): Limit[] {
  const single = (
    name: Limit['name'],
    unit: Limit['unit'],
    limit: number,
    { name: setting, meaning: description }: Described,
  ): Limit => ({ name, description, unit, limit, setting })
  const of = limitSettings
  return [
    single('fileSize', 'bytes', limits.fileBytes, of.fileBytes),
    single('indexedFileSize', 'bytes', limits.indexedFileBytes, of.indexedFileBytes),
    single('passagesPerFile', 'count', limits.passagesPerFile, of.passagesPerFile),
    single('messageSize', 'bytes', limits.messageBytes, of.messageBytes),
    single('requestSize', 'bytes', limits.bodyBytes, of.bodyBytes),
    single('adminRequestSize', 'bytes', limits.adminBodyBytes, of.adminBodyBytes),
    single('deliveryAttempts', 'count', limits.deliveryAttempts, of.deliveryAttempts),
    ...(rateLimit.perMinute === undefined
      ? []
      : [single('requestsPerMinute', 'count', rateLimit.perMinute, serverSettings.rateLimit)]),
  ]
}

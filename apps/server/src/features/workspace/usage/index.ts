import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  botQuotaTypes,
  contract,
  noQuota,
  quotaTypes,
  type UsageType,
  usageTypes,
} from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { fieldError, notFound } from '../../../domain/refusals.js'
import type { Standing } from '../../../domain/standing.js'
import { type Route, route } from '../../../http/mount.js'
import type { Authorities } from '../../../platform/authorities.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Feature } from '../../feature.js'
import { toCsvRow } from '../../tenancy/audit/index.js'
import { listQuotasOfBots } from '../../tenancy/metering/index.js'
import { enqueueRecording, hourMs, recordGauges, recordJob } from './gauges.js'
import { setQuotaOfBot, setQuotaOfWorkspace } from './quotas.js'
import {
  createUsageService,
  rangeOf,
  thisMonth,
  type UsageDeps,
  type UsageRecord,
} from './service.js'

interface Deps extends UsageDeps {
  queue: Queue
  run: Parameters<typeof setQuotaOfBot>[0]['run']
  ids: Parameters<typeof setQuotaOfBot>[0]['ids']
  bots: UsageDeps['bots'] & Parameters<typeof setQuotaOfBot>[0]['bots']
  authorities: Pick<Authorities, 'guard'>
  standing: Standing
}

const csvColumns = ['date', 'botId', 'botName', 'type', 'value']

/** Usage and quotas of workspaces and bots. */
export function createUsage(deps: Deps): Feature {
  const { queue, clock } = deps
  const record: JobHandler = {
    everyMs: hourMs,
    handler: (_, { signal }) => recordGauges(deps, signal),
    onDone: (tx) => enqueueRecording(queue, tx, clock.now() + hourMs),
  }
  return {
    name: 'usage',
    jobs: { [recordJob]: record },
    schedule: (tx) => enqueueRecording(queue, tx, clock.now()),
    routes: [...usageRoutes(deps), ...quotaRoutes(deps)],
  }
}

function usageRoutes(deps: Deps): Route[] {
  const service = createUsageService(deps)
  const { usage } = contract
  const guard = deps.authorities.guard(deps.standing.untilOf)

  /** A CSV file whose stream ends when its reader may no longer see the workspace. */
  function csvOf(actor: WorkspaceActor, lines: AsyncGenerator<readonly string[]>): Readable {
    const opened = Readable.from(toCsv(lines), { highWaterMark: 1 })
    const unwatch = guard.watch({
      authority: actor,
      grounds: deps.standing.groundsOf(actor),
      end: () => opened.destroy(),
    })
    return opened.once('close', unwatch)
  }

  return [
    route(usage.get, async ({ actor, params, query }) => {
      const owner = await service.ownerOf(actor, params.id)
      return { usage: await service.usageOf(owner, query.type, query.period) }
    }),

    route(usage.getMultiple, async ({ actor, query: { types, ids, period } }) => {
      const known = new Map<string, UsageRecord>()
      for (const id of new Set(ids)) {
        await nextTurn()
        const owner = await service.ownerOf(actor, id)
        for (const type of new Set(types.map(toType))) {
          known.set(`${id} ${type}`, await service.usageOf(owner, type, period))
        }
      }
      const usages = ids.flatMap((id) => types.flatMap((type) => known.get(`${id} ${type}`) ?? []))
      return { usages }
    }),

    route(usage.history, async ({ actor, params, query }) => ({
      usages: await service.history(await service.ownerOf(actor, params.id), query.type),
    })),

    route(usage.activity, async ({ actor, params, query }) => {
      const { timestampFrom, timestampUntil, ...rest } = query
      const { rows, nextToken } = await service.days(await service.ownerOf(actor, params.id), {
        ...rest,
        operation: usage.activity.id,
        from: ['timestampFrom', timestampFrom],
        until: ['timestampUntil', timestampUntil],
      })
      const data = rows.map(({ day, botId, value }) => ({
        timestamp: `${day}T00:00:00.000Z`,
        value,
        period: day.slice(0, 7),
        metadata: { ...(botId !== undefined && { botId }) },
      }))
      return { data, meta: { ...(nextToken !== undefined && { nextToken }) } }
    }),

    route(usage.dailyActivity, async ({ actor, params, query }) => {
      const { dateFrom, dateUntil, ...rest } = query
      const owner = await service.ownerOf(actor, params.id)
      const { rows, nextToken } = await service.days(owner, {
        ...rest,
        operation: usage.dailyActivity.id,
        from: ['dateFrom', dateFrom],
        until: ['dateUntil', dateUntil],
      })
      const data = rows.map(({ day, botId, value }) => ({
        key: botId ?? owner.workspaceId,
        date: day,
        value,
      }))
      return { data, meta: { ...(nextToken !== undefined && { nextToken }) } }
    }),

    route(usage.ofWorkspace, async ({ actor, params, query: { type, period } }) => {
      const owner = await service.workspaceOf(actor, params.id)
      const whole = await service.usageOf(owner, type, period)
      const quotas = await listQuotasOfBots(deps.db, owner.workspaceId, type)
      const bots = await service.byBot(owner, type, period)
      const ofBots = bots.slice(0, maxListed).map(([id, value]) => {
        return { ...whole, id, value, quota: quotas.get(id) ?? noQuota }
      })
      return { usages: [whole, ...ofBots] }
    }),

    route(usage.byBot, async ({ actor, params, query: { type, period } }) => {
      const bots = await service.byBot(await service.workspaceOf(actor, params.id), type, period)
      return { data: bots.slice(0, maxListed).map(([botId, value]) => ({ botId, value })) }
    }),

    route(usage.export, async ({ actor, params, query }) => {
      // What stays open ends with the rights in the workspace of the call.
      if (params.id !== actor.workspaceId)
        throw notFound(
          'workspace',
          params.id,
          'in this call: the header x-workspace-id names another one',
        )
      const owner = await service.workspaceOf(actor, params.id)
      const range = rangeOf(['dateFrom', query.dateFrom], ['dateUntil', query.dateUntil])
      return {
        status: 200,
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': 'attachment; filename="usage.csv"',
          'cache-control': 'no-store',
        },
        open: async () => {
          const isNamed = actor.rights.permissions.has('bots:read')
          return csvOf(actor, service.lines(owner, range, isNamed))
        },
      }
    }),

    route(usage.completion, async ({ actor }) => await service.completion(actor)),
  ]
}

function quotaRoutes(deps: Deps): Route[] {
  const service = createUsageService(deps)
  const { quota } = contract

  return [
    route(quota.get, async ({ actor, params, query: { type, period = thisMonth(deps) } }) => {
      const owner = await service.workspaceOf(actor, params.id)
      return { quota: { period, value: await service.quotaOf(owner, type), type } }
    }),

    route(quota.list, async ({ actor, params, query: { period = thisMonth(deps) } }) => {
      const owner = await service.workspaceOf(actor, params.id)
      const quotas = limitedTypes.map(async (type) => ({
        period,
        value: await service.quotaOf(owner, type),
        type,
      }))
      return { quotas: await Promise.all(quotas) }
    }),

    route(quota.set, async ({ actor, params, body: { type, value } }) => {
      await setQuotaOfWorkspace(deps, actor, params.id, { type, value })
      const owner = { workspaceId: params.id, botId: '' }
      const set = await service.quotaOf(owner, type)
      return { quota: { period: thisMonth(deps), value: set, type } }
    }),

    route(quota.listOfBot, async ({ actor, params, query: { period = thisMonth(deps) } }) => {
      const owner = await service.ownerOf(actor, params.id)
      if (owner.botId === '') throw notFound('bot', params.id, 'in this workspace')
      const quotas = botQuotaTypes.map(async (type) => ({
        period,
        value: await service.quotaOf(owner, type),
        type,
      }))
      return { quotas: await Promise.all(quotas) }
    }),

    route(quota.setOfBot, async ({ actor, params, body: { type, value } }) => {
      await setQuotaOfBot(deps, actor, params.id, { type, value })
      const owner = { workspaceId: actor.workspaceId, botId: params.id }
      const set = await service.quotaOf(owner, type)
      return { quota: { period: thisMonth(deps), value: set, type } }
    }),
  ]
}

/** Maximum number of bots in a response: those that used most. */
const maxListed = 1000
/** The types of `listWorkspaceQuotas`: those that people can limit, and the limits of one request. */
const limitedTypes = [
  ...quotaTypes,
  'workspace_ratelimit',
  'file_max_size_bytes',
  'invocation_timeout',
] as const

function toType(given: string): UsageType {
  const type = usageTypes.find((each) => each === given)
  if (type !== undefined) return type
  throw fieldError('query.types', `must be among ${usageTypes.join(', ')}.`)
}

async function* toCsv(lines: AsyncGenerator<readonly string[]>): AsyncGenerator<string> {
  yield toCsvRow(csvColumns)
  for await (const line of lines) yield toCsvRow(line)
}

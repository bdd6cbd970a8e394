import { noQuota, quotaTypes, type UsageType, usageTypes } from '@botstead/contract'
import type { Config } from '../../../config/config.js'
import type { AccountActor, WorkspaceActor } from '../../../domain/actor.js'
import { fieldError, notFound } from '../../../domain/refusals.js'
import { allBotsOf, type BotReach, requireWholeWorkspace } from '../../../domain/rights.js'
import { timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { BotsService } from '../../bots/bots/index.js'
import {
  findLevel,
  isOfBots,
  listLevelsOfBots,
  quotasOf,
  type ServerQuotas,
  type UsageOwner,
} from '../../bots/metering/index.js'
import type { Memberships } from '../../tenancy/access/index.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import * as store from './store.js'
import { inUnit, kindsOf, sources } from './types.js'

export interface UsageDeps {
  db: Db
  clock: Clock
  pager: Pager
  config: Pick<Config, 'limits' | 'rateLimit'>
  serverQuotas: ServerQuotas
  bots: Pick<BotsService, 'isIn' | 'namesOf'>
  workspaces: Pick<WorkspacesService, 'list'>
  memberships: Memberships
}

/** A workspace or bot whose usage a caller may see, and the bots of that workspace that they may see. */
export interface SeenOwner extends UsageOwner {
  id: string
  reach: BotReach
}

export interface UsageRecord {
  id: string
  period: string
  value: number
  quota: number
  type: UsageType
}

/** The range and the place of a list of days. */
export interface DaysQuery {
  operation: string
  type: UsageType
  /** Names of the fields with the range, and their values. */
  from: readonly [name: string, value: string | undefined]
  until: readonly [name: string, value: string | undefined]
  nextToken?: string | undefined
  pageSize?: number | undefined
}

/** Months of a history: the one that has begun, and the eleven before. */
const historyMonths = 12

export type UsageService = ReturnType<typeof createUsageService>

/** What workspaces and bots used. */
export function createUsageService(deps: UsageDeps) {
  const { db, clock, memberships } = deps
  const thisMonth = () => isoTime(clock.now()).slice(0, 7)

  /** A workspace of the caller, which need not be that of the call. */
  async function workspaceOf(actor: WorkspaceActor, id: string): Promise<SeenOwner> {
    const rights =
      id === actor.workspaceId
        ? actor.rights
        : await memberships.rightsIn(actor.accountId, id, actor.rights.limits)
    if (rights === undefined) throw notFound('workspace', id, 'among those of the caller')
    requireWholeWorkspace(rights)
    return { id, workspaceId: id, botId: '', reach: rights.bots }
  }

  /** A bot in the workspace of the call, or a workspace of the caller. */
  async function ownerOf(actor: WorkspaceActor, id: string): Promise<SeenOwner> {
    const { workspaceId, rights } = actor
    if (id !== workspaceId && (await deps.bots.isIn({ workspaceId, rights }, id))) {
      return { id, workspaceId, botId: id, reach: { kind: 'only', botId: id } }
    }
    return await workspaceOf(actor, id).catch((error: unknown) => {
      throw id === workspaceId ? error : notFound('workspace or bot', id, 'of the caller')
    })
  }

  /** What was used in a month. */
  async function valueIn(owner: SeenOwner, type: UsageType, period: string): Promise<number> {
    const source = sources[type]
    if (source === 'none' || 'limit' in source) return 0
    if ('level' in source && period === thisMonth()) return await findLevel(db, owner, source.level)
    const [latest] = foldByMonth(type, await sumByDay(owner, type, daysOf(period)))
    return latest?.value ?? 0
  }

  async function sumByDay(
    owner: SeenOwner,
    type: UsageType,
    days: { first: string; last: string },
  ) {
    const kinds = kindsOf(sources[type])
    if (kinds.length === 0) return []
    return await store.sumByDay(db, {
      workspaceId: owner.workspaceId,
      kinds,
      ...days,
      of: rowsOf(owner, type),
    })
  }

  async function quotaOf(owner: UsageOwner, type: UsageType): Promise<number> {
    const source = sources[type]
    if (source !== 'none' && 'limit' in source) return source.limit(deps.config) ?? noQuota
    const quotas = await quotasOf(deps, db, owner.workspaceId, owner.botId)
    const limited = quotaTypes.find((each) => each === type)
    if (limited === undefined) return noQuota
    return (owner.botId === '' ? quotas.workspace : quotas.bot).get(limited) ?? noQuota
  }

  async function usageOf(
    owner: SeenOwner,
    type: UsageType,
    period = thisMonth(),
  ): Promise<UsageRecord> {
    const [value, quota] = await Promise.all([valueIn(owner, type, period), quotaOf(owner, type)])
    return { id: owner.id, period, value, quota, type }
  }

  /** What the bots that the caller may see used, by their ids; bots that used nothing are left out. */
  async function byBot(
    owner: SeenOwner,
    type: UsageType,
    period = thisMonth(),
  ): Promise<[botId: string, value: number][]> {
    const source = sources[type]
    const kinds = kindsOf(source)
    if (source === 'none' || kinds.length === 0) return []
    const filter = { workspaceId: owner.workspaceId, kinds, ...daysOf(period), of: owner.reach }
    const values = await (async () => {
      if (!('level' in source)) return await store.sumByBot(db, filter)
      if (period !== thisMonth()) return await store.lastByBot(db, filter)
      return await listLevelsOfBots(db, owner.workspaceId, source.level)
    })()
    return [...values]
      .filter(([id]) => isSeen(owner.reach, id))
      .map(([id, value]): [string, number] => [id, inUnit(source, value)])
      .filter(([, value]) => value > 0)
      .sort(([, one], [, other]) => other - one)
  }

  return {
    workspaceOf,
    ownerOf,
    usageOf,
    byBot,
    quotaOf,
    thisMonth,

    /** Newest month first. */
    async history(owner: SeenOwner, type: UsageType): Promise<UsageRecord[]> {
      const current = await usageOf(owner, type)
      const first = `${monthsBefore(current.period, historyMonths - 1)}-01`
      const before = `${monthsBefore(current.period, 1)}-31`
      const months = foldByMonth(type, await sumByDay(owner, type, { first, last: before }))
      return [current, ...months.map((month) => ({ ...current, ...month }))]
    },

    /** What was used by day and bot, the last day first. */
    async days(owner: SeenOwner, query: DaysQuery): Promise<Page<DayUsage>> {
      const { operation, type, nextToken, pageSize } = query
      const [first, last] = [query.from, query.until].map(([name, value], position) =>
        timeOf(name, value, position === 0 ? 'beginning' : 'end')?.slice(0, 10),
      )
      if (first !== undefined && last !== undefined && last < first) {
        throw fieldError(`query.${query.until[0]}`, `must not be before query.${query.from[0]}.`)
      }
      const page = deps.pager.page({
        operation,
        scope: `${owner.workspaceId}/${owner.botId}`,
        filter: { type, first, last },
        sort: 'day',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const source = sources[type]
      const kinds = kindsOf(source)
      if (kinds.length === 0) return { rows: [], nextToken: undefined }
      const range = { first: first ?? '', last: last ?? '9' }
      const of = kinds.every(isOfWorkspaceOnly) && owner.botId === '' ? 'workspace' : owner.reach
      const found = await store.pageDays(
        db,
        { workspaceId: owner.workspaceId, kinds, ...range, of },
        page,
      )
      return {
        rows: found.rows.map(({ day, id, value }) => ({
          day,
          botId: id === '' ? undefined : id,
          value: inUnit(source, value),
        })),
        nextToken: found.nextToken,
      }
    },

    /** The lines of a CSV file: what each bot that the caller may see used on each day. */
    async *lines(
      { workspaceId, reach }: SeenOwner,
      { first = '', last = '9' }: { first?: string | undefined; last?: string | undefined },
    ): AsyncGenerator<readonly string[]> {
      for (const day of await store.listDays(db, workspaceId, first, last)) {
        const values = new Map<string, Map<string, number>>()
        for (const { botId, kind, value } of await store.listDay(db, workspaceId, day)) {
          if (botId !== '' && !isSeen(reach, botId)) continue
          values.set(botId, (values.get(botId) ?? new Map<string, number>()).set(kind, value))
        }
        const ids = [...values.keys()]
        const names = await deps.bots.namesOf(allBotsOf(workspaceId), ids)
        for (const [botId, kinds] of values) {
          for (const type of usageTypes) {
            const sum = kindsOf(sources[type]).reduce(
              (all, kind) => all + (kinds.get(kind) ?? 0),
              0,
            )
            const value = inUnit(sources[type], sum)
            if (value > 0) yield [day, botId, names.get(botId) ?? '', type, String(value)]
          }
        }
      }
    },

    /** The quota of each workspace of the caller that is used most. */
    async completion(actor: AccountActor) {
      const most: Record<string, { type: (typeof quotaTypes)[number]; completion: number }> = {}
      let nextToken: string | undefined
      do {
        const page = await deps.workspaces.list(actor, { nextToken, pageSize: 100 })
        nextToken = page.nextToken
        for (const { workspace } of page.rows) {
          const { id } = workspace
          const owner = { id, workspaceId: id, botId: '', reach: { kind: 'all' } } as const
          for (const [type, quota] of (await quotasOf(deps, db, id)).workspace) {
            const value = await valueIn(owner, type, thisMonth())
            const completion = quota === 0 ? 1 : value / quota
            if (completion >= (most[id]?.completion ?? 0)) most[id] = { type, completion }
          }
        }
      } while (nextToken !== undefined)
      return most
    },
  }
}

interface DayUsage {
  day: string
  /** Undefined for the whole workspace. */
  botId: string | undefined
  value: number
}

/** The rows of an owner. Levels of a workspace have rows of their own, which are not the sums of those of its bots. */
function rowsOf(owner: SeenOwner, type: UsageType): store.DayFilter['of'] {
  if (owner.botId !== '') return { kind: 'only', botId: owner.botId }
  const source = sources[type]
  return source !== 'none' && 'level' in source ? 'workspace' : { kind: 'all' }
}

function isOfWorkspaceOnly(kind: ReturnType<typeof kindsOf>[number]): boolean {
  return ['bots', 'members', 'integrations', 'always_alive'].includes(kind) && !isOfBots(kind)
}

function isSeen(reach: BotReach, botId: string): boolean {
  if (reach.kind === 'only') return reach.botId === botId
  return reach.kind === 'all' || !reach.botIds.includes(botId)
}

/** Sums of months, or the last values in them, the last month first. */
function foldByMonth(
  type: UsageType,
  days: readonly { day: string; value: number }[],
): { period: string; value: number }[] {
  const source = sources[type]
  const isLevel = source !== 'none' && 'level' in source
  const months = new Map<string, number>()
  for (const { day, value } of days) {
    const period = day.slice(0, 7)
    const known = months.get(period)
    months.set(period, known === undefined ? value : isLevel ? known : known + value)
  }
  return [...months].map(([period, value]) => ({ period, value: inUnit(source, value) }))
}

function daysOf(period: string): { first: string; last: string } {
  return { first: `${period}-01`, last: `${period}-31` }
}

function monthsBefore(period: string, months: number): string {
  const [year = 0, month = 1] = period.split('-').map(Number)
  return isoTime(Date.UTC(year, month - 1 - months, 1)).slice(0, 7)
}

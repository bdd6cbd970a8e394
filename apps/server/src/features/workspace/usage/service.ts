import { setImmediate as nextTurn } from 'node:timers/promises'
import { noQuota, quotaTypes, type UsageType, usageTypes } from '@botstead/contract'
import type { Config } from '../../../config/config.js'
import type { AccountActor, WorkspaceActor } from '../../../domain/actor.js'
import { fieldError, notFound } from '../../../domain/refusals.js'
import {
  allBotsOf,
  type Rights,
  reaches,
  requireWholeWorkspace,
  rightsOf,
} from '../../../domain/rights.js'
import { timeOf } from '../../../domain/times.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import { groupBy } from '../../../platform/group-by.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { Memberships } from '../../tenancy/access/index.js'
import {
  type DayFilter,
  daysOfMonth,
  findDay,
  lastByBot,
  listDay,
  monthsBefore,
  pageDays,
  quotasOf,
  type SeenBots,
  type ServerQuotas,
  sumByBot,
  sumByDay,
  type UsageOwner,
} from '../../tenancy/metering/index.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import { type GaugesDeps, gaugeOf, gaugesOfBots } from './gauges.js'
import { inUnit, isGauge, kindsOf, type Source, sources } from './types.js'

export interface UsageDeps extends GaugesDeps {
  db: Db
  clock: Clock
  pager: Pager
  config: Pick<Config, 'limits' | 'rateLimit'>
  serverQuotas: ServerQuotas
  bots: GaugesDeps['bots'] & Pick<BotsService, 'isIn' | 'namesOf'>
  workspaces: Pick<WorkspacesService, 'list'>
  memberships: Memberships
}

/** A workspace or bot whose usage a caller may see, and the bots of that workspace that they may see. */
interface SeenOwner extends UsageOwner {
  id: string
  reach: SeenBots
}

export interface UsageRecord {
  id: string
  period: string
  value: number
  quota: number
  type: UsageType
}

/** The range and the page of a list of days. */
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
const dayMs = 24 * 60 * 60 * 1000
/** Behind all days. */
const lastDay = '9'

/** Reads the usage of workspaces and bots. */
export function createUsageService(deps: UsageDeps) {
  return bound(deps, {
    workspaceOf,
    ownerOf,
    usageOf,
    byBot,
    quotaOf,
    history,
    days,
    lines,
    completion,
  })
}

/** The present month, such as `2026-03`. */
export function thisMonth({ clock }: Pick<UsageDeps, 'clock'>): string {
  return isoTime(clock.now()).slice(0, 7)
}

/** A workspace of the caller, which need not be that of the call. */
async function workspaceOf(
  deps: UsageDeps,
  actor: WorkspaceActor,
  id: string,
  where = 'among those of the caller',
): Promise<SeenOwner> {
  const rights =
    id === actor.workspaceId
      ? actor.rights
      : await deps.memberships.rightsIn(actor.accountId, id, actor.rights.limits)
  if (rights === undefined) throw notFound('workspace', id, where)
  requireWholeWorkspace(rights)
  return { id, workspaceId: id, botId: '', reach: await seenBots(deps, id, rights) }
}

/** A bot in the workspace of the call, or a workspace of the caller. */
async function ownerOf(deps: UsageDeps, actor: WorkspaceActor, id: string): Promise<SeenOwner> {
  const { workspaceId } = actor
  if (id === workspaceId) return await workspaceOf(deps, actor, id)
  if (await deps.bots.isIn(actor, id)) {
    return { id, workspaceId, botId: id, reach: { kind: 'only', botId: id } }
  }
  const where = 'among those of the caller, and no such bot in this workspace'
  return await workspaceOf(deps, actor, id, where)
}

async function usageOf(
  deps: UsageDeps,
  owner: SeenOwner,
  type: UsageType,
  period = thisMonth(deps),
): Promise<UsageRecord> {
  const [value, quota] = await Promise.all([
    valueIn(deps, owner, type, period),
    quotaOf(deps, owner, type),
  ])
  return { id: owner.id, period, value, quota, type }
}

/** The usage of a month, in the unit of the type. */
async function valueIn(
  deps: UsageDeps,
  owner: SeenOwner,
  type: UsageType,
  period: string,
): Promise<number> {
  const source = sources[type]
  if (source === 'none' || 'limit' in source) return 0
  if (isGauge(source) && period === thisMonth(deps)) {
    return await gaugeOf(deps, owner, source.gauge)
  }
  const [latest] = foldByMonth(type, await sumDays(deps, owner, type, daysOfMonth(period)))
  return latest?.value ?? 0
}

async function sumDays(
  { db }: UsageDeps,
  owner: SeenOwner,
  type: UsageType,
  range: { first: string; last: string },
) {
  const kinds = kindsOf(sources[type])
  if (kinds.length === 0) return []
  const { workspaceId } = owner
  return await sumByDay(db, { workspaceId, kinds, ...range, of: rowsOf(owner, type) })
}

async function quotaOf(
  deps: UsageDeps,
  { workspaceId, botId }: UsageOwner,
  type: UsageType,
): Promise<number> {
  const source = sources[type]
  if (source !== 'none' && 'limit' in source) return source.limit(deps.config) ?? noQuota
  const limited = quotaTypes.find((each) => each === type)
  if (limited === undefined) return noQuota
  const quotas = await quotasOf(deps, deps.db, workspaceId, botId)
  return (botId === '' ? quotas.workspace : quotas.bot).get(limited) ?? noQuota
}

/** The usage of each bot that the caller may see, the highest first; bots without usage are left out. */
async function byBot(
  deps: UsageDeps,
  owner: SeenOwner,
  type: UsageType,
  period = thisMonth(deps),
): Promise<[botId: string, value: number][]> {
  const source = sources[type]
  const values = await valuesByBot(deps, owner, source, period)
  return [...values]
    .filter(([id]) => isSeen(owner.reach, id))
    .map(([id, value]): [string, number] => [id, inUnit(source, value)])
    .filter(([, value]) => value > 0)
    .sort(([, one], [, other]) => other - one)
}

async function valuesByBot(
  deps: UsageDeps,
  { workspaceId, reach }: SeenOwner,
  source: Source,
  period: string,
): Promise<Map<string, number>> {
  const kinds = kindsOf(source)
  if (kinds.length === 0) return new Map()
  const filter = { workspaceId, kinds, ...daysOfMonth(period), of: reach }
  if (!isGauge(source)) return await sumByBot(deps.db, filter)
  if (period !== thisMonth(deps)) return await lastByBot(deps.db, filter)
  return await gaugesOfBots(deps, workspaceId, source.gauge)
}

/** Newest month first. */
async function history(deps: UsageDeps, owner: SeenOwner, type: UsageType): Promise<UsageRecord[]> {
  const current = await usageOf(deps, owner, type)
  const { first } = daysOfMonth(monthsBefore(current.period, historyMonths - 1))
  const { last } = daysOfMonth(monthsBefore(current.period, 1))
  const months = foldByMonth(type, await sumDays(deps, owner, type, { first, last }))
  return [current, ...months.map((month) => ({ ...current, ...month }))]
}

/** Usage by day and bot, the last day first. */
async function days(deps: UsageDeps, owner: SeenOwner, query: DaysQuery): Promise<Page<DayUsage>> {
  const { operation, type, nextToken, pageSize } = query
  const range = rangeOf(query.from, query.until)
  const page = deps.pager.page({
    operation,
    scope: `${owner.workspaceId}/${owner.botId}`,
    filter: { type, ...range },
    sort: 'day',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  const source = sources[type]
  const kinds = kindsOf(source)
  if (kinds.length === 0) return { rows: [], nextToken: undefined }
  const isOfWorkspace = kinds.some((kind) => workspaceKinds.has(kind)) && owner.botId === ''
  const of = isOfWorkspace ? 'workspace' : owner.reach
  const { workspaceId } = owner
  const found = await pageDays(deps.db, { workspaceId, kinds, ...range, of }, page)
  const rows = found.rows.map(({ day, id, value }) => ({
    day,
    botId: id === '' ? undefined : id,
    value: inUnit(source, value),
  }))
  return { rows, nextToken: found.nextToken }
}

/**
 * The lines of the export: usage by day, bot and type, the first day first.
 * @param isNamed whether the rows have the names of bots, too
 */
async function* lines(
  { db, bots }: UsageDeps,
  { workspaceId, reach }: SeenOwner,
  { first, last }: { first: string; last: string },
  isNamed: boolean,
): AsyncGenerator<readonly string[]> {
  const next = (from: string) => findDay(db, workspaceId, from, last)
  for (let day = await next(first); day !== undefined; day = await next(dayAfter(day))) {
    await nextTurn()
    const used = groupBy(await listDay(db, workspaceId, day), ({ botId }) => botId)
    const named = isNamed ? [...used.keys()] : []
    const names = await bots.namesOf(allBotsOf(workspaceId), named)
    for (const [botId, rows] of used) {
      if (botId !== '' && !isSeen(reach, botId)) continue
      for (const type of usageTypes) {
        const kinds = new Set<string>(kindsOf(sources[type]))
        const ofType = rows.filter(({ kind }) => kinds.has(kind))
        const value = inUnit(
          sources[type],
          ofType.reduce((sum, row) => sum + row.value, 0),
        )
        if (value > 0) yield [day, botId, names.get(botId) ?? '', type, String(value)]
      }
    }
  }
}

/** The most used quota of each workspace of the caller. */
async function completion(deps: UsageDeps, actor: AccountActor) {
  requireWholeWorkspace(actor)
  const most: Record<string, { type: (typeof quotaTypes)[number]; completion: number }> = {}
  let nextToken: string | undefined
  do {
    const page = await deps.workspaces.list(actor, { nextToken, pageSize: 100 })
    nextToken = page.nextToken
    for (const { workspace } of page.rows) {
      await nextTurn()
      const { id } = workspace
      const owner: SeenOwner = { id, workspaceId: id, botId: '', reach: { kind: 'all' } }
      for (const [type, quota] of (await quotasOf(deps, deps.db, id)).workspace) {
        const value = await valueIn(deps, owner, type, thisMonth(deps))
        const used = quota === 0 ? 1 : value / quota
        if (used >= (most[id]?.completion ?? 0)) most[id] = { type, completion: used }
      }
    }
  } while (nextToken !== undefined)
  return most
}

interface DayUsage {
  day: string
  /** Undefined for the whole workspace. */
  botId: string | undefined
  value: number
}

/** The kinds that no single bot has. */
const workspaceKinds: ReadonlySet<string> = new Set([
  'bots',
  'members',
  'integrations',
  'always_alive',
])

/** The rows with the usage of an owner: gauges of a workspace have rows of their own, its counters are the sums of its bots. */
function rowsOf(owner: SeenOwner, type: UsageType): DayFilter['of'] {
  if (owner.botId !== '') return { kind: 'only', botId: owner.botId }
  return isGauge(sources[type]) ? 'workspace' : { kind: 'all' }
}

/** Those who may not see all bots see none that is gone: whether they could see it is not known any more. */
async function seenBots(
  { bots }: Pick<UsageDeps, 'bots'>,
  workspaceId: string,
  rights: Rights,
): Promise<SeenBots> {
  const { role, bots: reach } = rights
  if (reach.kind === 'only' || rightsOf(role).permissions.has('bots:manage')) return reach
  return { kind: 'these', botIds: await bots.idsIn({ workspaceId, rights }) }
}

function isSeen(reach: SeenBots, botId: string): boolean {
  return reach.kind === 'these' ? reach.botIds.includes(botId) : reaches({ bots: reach }, botId)
}

/** Values of months, from days of which the last one is first: sums of counters, last values of gauges. */
function foldByMonth(
  type: UsageType,
  days: readonly { day: string; value: number }[],
): { period: string; value: number }[] {
  const source = sources[type]
  const months = new Map<string, number>()
  for (const { day, value } of days) {
    const period = day.slice(0, 7)
    const known = months.get(period)
    months.set(period, known === undefined ? value : isGauge(source) ? known : known + value)
  }
  return [...months].map(([period, value]) => ({ period, value: inUnit(source, value) }))
}

function dayAfter(day: string): string {
  return isoTime(Date.parse(day) + dayMs).slice(0, 10)
}

/** The first and the last day of a list; without bounds, all days. */
export function rangeOf(
  [fromName, from]: DaysQuery['from'],
  [untilName, until]: DaysQuery['until'],
): { first: string; last: string } {
  for (const [name, given] of [
    [fromName, from],
    [untilName, until],
  ] as const) {
    // Others, such as 03/04/2026, are not the same day everywhere.
    if (given !== undefined && !/^\d{4}-\d\d-\d\d/.test(given)) {
      throw fieldError(`query.${name}`, 'must begin with a day such as 2026-03-01.')
    }
  }
  const first = timeOf(fromName, from, 'beginning')?.slice(0, 10) ?? ''
  const last = timeOf(untilName, until, 'end')?.slice(0, 10) ?? lastDay
  if (last >= first) return { first, last }
  throw fieldError(`query.${untilName}`, `must not be before query.${fromName}.`)
}

import { ApiError, type Body, type contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { reaches } from '../../../domain/rights.js'
import { type Authorities, splitGround } from '../../../platform/authorities.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import { type DiskSpace, diskSpaces } from '../../../platform/disk/free-space.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import { groupBy } from '../../../platform/group-by.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotTransfer } from '../../bots/bots/index.js'
import type { WaitingDeliveries } from '../../deliveries/index.js'
import type { AccountsService } from '../../tenancy/accounts/index.js'
import { recordAct } from '../../tenancy/audit/index.js'
import { holdWorkspace } from '../../tenancy/workspaces/index.js'
import { type BotHealth, healthOf } from './bots.js'
import {
  coveredHours,
  type ErrorGroup,
  groupErrors,
  ofDelivery,
  ofFile,
  ofJob,
  ofLine,
} from './errors.js'
import { type Facts, type FactsDeps, maxCounted, readFacts, type Scope } from './facts.js'
import { createPings, type Pings, type PingsDeps } from './pings.js'
import * as store from './store.js'
import { divide, receiverOf, receiversOfLine, summaryOf } from './succession.js'

export interface OverviewDeps extends FactsDeps, PingsDeps {
  run: Run
  clock: Clock
  authorities: Pick<Authorities, 'onChange'>
  ids: Ids
  queue: Pick<Queue, 'listDead'>
  /** Folders of this machine that the server writes to. */
  folders: ReadonlyMap<'database' | 'contents', string>
  accounts: Pick<AccountsService, 'isOperator'>
  /** Milliseconds for which resolutions of errors are kept. */
  retentionMs: number
}

/** A disk of this machine. */
interface Disk extends DiskSpace {
  of: 'database' | 'contents'
  isLow: boolean
}

/** The state of a workspace, or of one of its bots. */
export interface Overview {
  asOf: string
  bots: BotHealth[]
  counts: Record<
    'bots' | 'botsNeedingAttention' | 'integrations' | 'files' | 'conversations',
    number
  >
  deliveries: { waiting: number; oldest: WaitingDeliveries | undefined }
  files: { waiting: number; failed: number }
  errors: { groups: ErrorGroup[]; since: string; isComplete: boolean }
  /** Only for the operator. */
  operator: { deadJobs: number; disks: Disk[] } | undefined
}

const hour = 60 * 60 * 1000
/** Maximum number of bots and groups of errors that are returned. */
const maxShown = 200
const maxGroups = 50
/** Maximum number of resolutions that one call of the sweep deletes. */
const sweptAtOnce = 500
/** Free space below which a disk needs attention. */
const lowDisk = { bytes: 1e9, share: 0.05 }

/** The state of workspaces. What was determined serves other callers for some seconds. */
export function createOverviewService(deps: OverviewDeps) {
  const { db, run, clock } = deps
  const pings = createPings(deps)
  /** Undefined for a bot outside of the workspace, so that guessed ids evict nothing from the cache. */
  const read = async (scope: Scope): Promise<Overview | undefined> => {
    const overview = await determine({ ...deps, pings }, scope)
    return scope.botId === undefined || overview.bots.length > 0 ? overview : undefined
  }
  const cache = createFactCache<Overview>({
    clock,
    maxFacts: 100,
    read: (key) => read(scopeOf(key)),
    groupOf: (key) => scopeOf(key).workspaceId,
  })
  // A bot that left, or whose members changed, is shown to nobody at any process any more.
  deps.authorities.onChange((ground) => {
    if (ground === undefined) return cache.forget(() => true)
    const [kind, id] = splitGround(ground)
    if (kind === 'workspace') cache.forgetGroup(id)
  })

  return {
    /** @throws ApiError `ReferenceNotFound` for a bot outside of the workspace */
    async get(actor: WorkspaceActor, botId?: string): Promise<Overview> {
      const overview = await cache.get(keyOf({ ...actor, botId }))
      if (overview === undefined) throw noBot(botId, 'query.botId')
      const isWhole =
        botId === undefined &&
        actor.rights.limits.workspaceId === undefined &&
        (await deps.accounts.isOperator(actor.accountId))
      return isWhole ? await addServer(deps, overview) : overview
    },

    /** Resolves the errors of a group until now, or until the newest one that the caller has seen. */
    async resolve(
      actor: WorkspaceActor,
      fingerprint: string,
      { lastAt, botId }: Body<typeof contract.overview.resolveErrors>,
    ): Promise<void> {
      const { workspaceId, accountId } = actor
      const overview = await read({ ...actor, botId })
      if (overview === undefined) throw noBot(botId, 'body.botId')
      const { errors } = overview
      const group = errors.groups.find(({ id }) => id === fingerprint)
      if (group?.botId === undefined) {
        const resolved = await store.listResolved(db, workspaceId)
        if (resolved.has(fingerprint)) return
        throw notFound('group of errors', fingerprint, 'in the last 24 hours of this workspace')
      }
      const seen = lastAt === undefined ? group.lastAt : isoTime(Date.parse(lastAt))
      const row = {
        workspace_id: workspaceId,
        fingerprint,
        bot_id: group.botId,
        last_at: seen < group.lastAt ? seen : group.lastAt,
        account_id: accountId,
        resolved_at: isoTime(clock.now()),
      }
      await run(async (tx) => {
        await holdWorkspace(tx, actor)
        if (!(await deps.bots.hold(tx, actor, row.bot_id))) throw noBot(row.bot_id, 'body.botId')
        await store.putResolved(tx, row)
        const changes = { botId: { to: row.bot_id } }
        recordAct(deps, tx, actor, { resourceId: fingerprint, changes })
      })
      cache.forgetGroup(workspaceId)
    },

    /** Shows the errors of a group again. */
    async reopen(actor: WorkspaceActor, fingerprint: string): Promise<void> {
      const { workspaceId, rights } = actor
      const wasResolved = await run(async (tx) => {
        const botId = await store.findBotOfResolved(tx, workspaceId, fingerprint)
        if (botId === undefined || !reaches(rights, botId)) return false
        recordAct(deps, tx, actor, { resourceId: fingerprint, changes: { botId: { to: botId } } })
        return await store.deleteResolved(tx, workspaceId, fingerprint)
      })
      if (!wasResolved) {
        throw notFound('resolved group of errors', fingerprint, 'in this workspace')
      }
      cache.forgetGroup(workspaceId)
    },

    /** Deletes some resolutions that are older than their retention; returns how many. */
    sweep(tx: Tx): Promise<number> {
      const before = isoTime(clock.now() - deps.retentionMs)
      return store.deleteSomeResolved(tx, { before }, sweptAtOnce)
    },

    removeWorkspace: store.deleteResolvedOfWorkspace,

    /** Moves the resolutions of a bot. */
    async moveBot(tx: Tx, { botId, from, to }: BotTransfer): Promise<void> {
      await store.moveResolved(tx, botId, { from, to })
    },

    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeResolved(tx, { botId }, limit))
    },
  }
}

/** Names a scope in the cache: members who may see other bots have another overview. */
function keyOf({ workspaceId, rights: { bots }, botId }: Scope): string {
  return JSON.stringify({ workspaceId, rights: { bots }, botId })
}

function scopeOf(key: string): Scope {
  return JSON.parse(key)
}

/** @param field path of the id in the request */
function noBot(botId: string | undefined, field: string): ApiError {
  return new ApiError('ReferenceNotFound', `${field}: there is no bot ${botId} in this workspace.`)
}

/** The overview of a workspace, or of one of its bots, as all members see it. */
async function determine(
  deps: FactsDeps & { clock: Clock; pings: Pings },
  scope: Scope,
): Promise<Overview> {
  const now = deps.clock.now()
  const start = now - coveredHours * hour
  const since = isoTime(start)
  const facts = await readFacts(deps, scope, since)
  const health = healthOfBots(facts, await findSilent(deps.pings, facts))
  const { waiting, files, failed, failedFiles, lines } = facts
  const errors = [...failed.map(ofDelivery), ...failedFiles.map(ofFile), ...lines.map(ofLine)]
  const [oldest] = waiting.toSorted((one, other) =>
    one.oldest.createdAt < other.oldest.createdAt ? -1 : 1,
  )
  return {
    asOf: isoTime(now),
    bots: health.toSorted(byUrgency).slice(0, maxShown),
    counts: {
      bots: sum([facts.botCount]),
      botsNeedingAttention: sum([health.filter(needsAttention).length]),
      integrations: sum([facts.integrationCount]),
      files: sum(files.map(({ all }) => all)),
      conversations: sum(facts.conversations),
    },
    deliveries: { waiting: sum(waiting.map(({ count }) => count)), oldest },
    files: {
      waiting: sum(files.map((each) => each.waiting)),
      failed: sum(files.map((each) => each.failed)),
    },
    errors: {
      groups: groupErrors(errors, start).slice(0, maxGroups),
      since,
      isComplete: facts.isComplete,
    },
    operator: undefined,
  }
}

/** Reasons for which programs at a URL do not respond, by the ids of their bots: those with the newest messages are asked. */
async function findSilent(
  pings: Pings,
  { bots, lastMessages }: Pick<Facts, 'bots' | 'lastMessages'>,
): Promise<Map<string, string>> {
  const called = bots
    .filter(({ url, blocked }) => url !== null && !decodeBoolean(blocked))
    .toSorted((one, other) =>
      (lastMessages.get(one.id) ?? '') > (lastMessages.get(other.id) ?? '') ? -1 : 1,
    )
  return await pings.findSilent(called.map(({ id }) => id))
}

function healthOfBots(facts: Facts, silent: ReadonlyMap<string, string>): BotHealth[] {
  const { successes } = facts
  const states = byBot(facts.states)
  const installations = byBot(facts.installations)
  const failedFiles = byBot(facts.failedFiles)
  const deliveries = divide(facts.failed, successes, {
    receiversOf: (row) => [receiverOf(row)],
    timeOf: ({ updated_at }) => updated_at,
    botOf: ({ bot_id }) => bot_id,
  })
  const lines = divide(facts.lines, successes, {
    receiversOf: (line) => receiversOfLine(line, installations.get(line.botId) ?? []),
    timeOf: ({ createdAt }) => createdAt,
    botOf: ({ botId }) => botId,
  })
  return facts.bots.map((bot) =>
    healthOf({
      bot,
      receivers: states.get(bot.id) ?? [],
      installations: installations.get(bot.id) ?? [],
      lastMessageAt: facts.lastMessages.get(bot.id),
      failedDeliveries: deliveries.summaryOf(bot.id, 'now'),
      failedFiles: summaryOf(failedFiles.get(bot.id), ({ updated_at }) => updated_at),
      errorLines: lines.summaryOf(bot.id, 'now'),
      past: {
        failedDeliveries: deliveries.summaryOf(bot.id, 'past'),
        errorLines: lines.summaryOf(bot.id, 'past'),
      },
      hosted: facts.hosted.get(bot.id) ?? new Set(),
      unreachable: silent.get(bot.id),
    }),
  )
}

/** Adds what only the operator sees: jobs and disks belong to no workspace. */
async function addServer(
  { queue, folders }: Pick<OverviewDeps, 'queue' | 'folders'>,
  overview: Overview,
): Promise<Overview> {
  const dead = await queue.listDead({ limit: maxCounted })
  const disks = (await diskSpaces(folders)).map((disk): Disk => {
    const { freeBytes, totalBytes } = disk
    return { ...disk, isLow: freeBytes < Math.max(lowDisk.bytes, lowDisk.share * totalBytes) }
  })
  const { errors } = overview
  const jobs = groupErrors(dead.map(ofJob), Date.parse(errors.since))
  const groups = [...errors.groups, ...jobs].sort((one, other) => other.count - one.count)
  return {
    ...overview,
    errors: { ...errors, groups: groups.slice(0, maxGroups) },
    operator: { deadJobs: dead.length, disks },
  }
}

function byBot<Row extends { bot_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return groupBy(rows, ({ bot_id }) => bot_id)
}

/** Adds up counts, as far as counts go. */
function sum(counts: readonly number[]): number {
  return Math.min(
    maxCounted,
    counts.reduce((total, count) => total + count, 0),
  )
}

function needsAttention({ status }: BotHealth): boolean {
  return status === 'attention'
}

function byUrgency(one: BotHealth, other: BotHealth): number {
  const [left, right] = [Number(needsAttention(one)), Number(needsAttention(other))]
  return right - left || (one.name < other.name ? -1 : 1)
}

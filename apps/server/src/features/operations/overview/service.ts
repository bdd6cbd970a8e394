import { ApiError, type Body, type contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import {
  type LogSource,
  type LogSourceName,
  logLevels,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { type DiskSpace, diskSpaces } from '../../../platform/disk/free-space.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Outgoing } from '../../../platform/outgoing/outgoing.js'
import type { BotsService } from '../../bots/bots/index.js'
import { listInstallationStates } from '../../bots/installations/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import type { Hosting } from '../../calls/hosting/index.js'
import type { Targets } from '../../calls/targets/index.js'
import { countConversations } from '../../conversations/conversations/index.js'
import { listLastMessageTimes } from '../../conversations/messages/index.js'
import {
  listFailed,
  listReceivers,
  listSuccesses,
  listWaiting,
  type ReceiverState,
  type WaitingDeliveries,
} from '../../deliveries/index.js'
import { countFiles, listFailedFiles } from '../../files/index.js'
import type { AccountsService } from '../../tenancy/accounts/index.js'
import { holdWorkspace } from '../../tenancy/workspaces/index.js'
import { endless, walkLines } from '../logs/index.js'
import { type BotHealth, healthOf } from './bots.js'
import {
  coveredHours,
  type ErrorGroup,
  groupErrors,
  isGivenUp,
  ofDelivery,
  ofFile,
  ofJob,
  ofLine,
  resolvedIn,
} from './errors.js'
import { createPings } from './pings.js'
import * as store from './store.js'
import { divide, groupBy, receiverOf, receiversOfLine, summaryOf } from './succession.js'

export interface OverviewDeps {
  db: Db
  run: Run
  clock: Clock
  queue: Pick<Queue, 'listDead'>
  sources: Readonly<Record<LogSourceName, LogSource>>
  /** Folders of this machine that the server writes to. */
  folders: ReadonlyMap<'database' | 'contents', string>
  accounts: Pick<AccountsService, 'isOperator'>
  bots: Pick<BotsService, 'reachIn' | 'countByWorkspace'>
  integrations: Pick<IntegrationsService, 'idsIn'>
  targets: Pick<Targets, 'of'>
  outgoing: Outgoing
  hosting: Pick<Hosting, 'send'>
  /** Milliseconds for which resolutions of errors are kept. */
  retentionMs: number
}

/** A disk of this machine. */
interface Disk extends DiskSpace {
  of: 'database' | 'contents'
  isLow: boolean
}

/** The state of a workspace. */
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
/** Where counts end. */
const mostCounted = 1000
/** Bots that are looked at, and those that are returned. */
const mostBots = 1000
const mostShown = 200
const mostGroups = 50
/** Most resolutions that one call of the sweep deletes. */
const sweptAtOnce = 500
/** Errors that are read: failed deliveries of one receiver, failed files, and lines of logs. */
const mostRead = { deliveries: 500, files: 2000, lines: 10_000 }
/** Free space below which a disk needs attention. */
const lowDisk = { bytes: 1e9, share: 0.05 }

/** The state of workspaces. What was determined serves other callers for some seconds. */
export function createOverviewService(deps: OverviewDeps) {
  const { db, clock, bots, queue } = deps

  const pings = createPings(deps)
  const cache = createFactCache<Overview>({
    clock,
    maxFacts: 100,
    read: async (workspaceId) => await determine({ workspaceId }),
  })

  async function readErrorLines(
    botIds: readonly string[],
    workspaceId: string,
    since: string,
  ): Promise<{ lines: WorkspaceLogLine[]; isAll: boolean }> {
    const lines: WorkspaceLogLine[] = []
    const own = new Set(botIds)
    const reached = await walkLines(db, [deps.sources.bot, deps.sources.integration], {
      selection: {
        botIds,
        integrationIds: await deps.integrations.idsIn(workspaceId),
        hasBot: false,
        hasIntegration: false,
        levels: new Set(logLevels.filter((level) => level === 'error')),
        userId: undefined,
        workflowId: undefined,
        conversationId: undefined,
      },
      period: { since, before: endless },
      after: undefined,
      budget: mostRead.lines,
      take: (line) => {
        if ((own.has(line.botId) || line.source === 'integration') && !isGivenUp(line)) {
          lines.push(line)
        }
        return true
      },
    })
    return { lines, isAll: reached === undefined }
  }

  /** Aliases of the receivers that fail and whose code is deployed here, by the ids of their bots. */
  async function findHosted(states: readonly ReceiverState[]): Promise<Map<string, Set<string>>> {
    const found = new Map<string, Set<string>>()
    for (const { bot_id: botId, integration } of states) {
      if (integration === '') continue
      const target = await deps.targets.of({ botId, integration })
      if (target === undefined || 'url' in target.at) continue
      found.set(botId, (found.get(botId) ?? new Set()).add(integration))
    }
    return found
  }

  async function determine(scope: { workspaceId: string }): Promise<Overview> {
    const now = clock.now()
    const since = isoTime(now - coveredHours * hour)
    const rows = await bots.reachIn(scope, mostBots)
    const botIds = rows.map(({ id }) => id)
    const installations = await listInstallationStates(db, botIds)
    const receivers = [
      ...botIds.map((bot_id) => ({ bot_id, integration: '' })),
      ...installations.map(({ bot_id, alias }) => ({ bot_id, integration: alias })),
    ]
    const [states, waiting, allFailed, successes, files, allFailedFiles, logs, resolved] =
      await Promise.all([
        listReceivers(db, botIds),
        listWaiting(db, receivers, mostCounted),
        listFailed(db, receivers, since, mostRead.deliveries),
        listSuccesses(db, receivers),
        countFiles(db, botIds, mostCounted),
        listFailedFiles(db, botIds, mostRead.files),
        readErrorLines(botIds, scope.workspaceId, since),
        store.listResolved(db, scope.workspaceId),
      ])
    const [messages, conversations, counted, hosted] = await Promise.all([
      listLastMessageTimes(db, botIds, since),
      countConversations(db, botIds, mostCounted),
      bots.countByWorkspace([scope.workspaceId]),
      findHosted(states),
    ])
    const isResolved = resolvedIn(resolved)
    const failed = allFailed.filter((row) => !isResolved(ofDelivery(row)))
    const failedFiles = allFailedFiles.filter((row) => !isResolved(ofFile(row)))
    const lines = logs.lines.filter((line) => !isResolved(ofLine(line)))
    const silent = await pings.findSilent(
      rows
        .filter(({ url, blocked }) => url !== null && !decodeBoolean(blocked))
        .sort((one, other) =>
          (messages.get(one.id) ?? '') > (messages.get(other.id) ?? '') ? -1 : 1,
        )
        .map(({ id }) => id),
    )
    const ofBot = <Row extends { bot_id: string }>(all: readonly Row[]) =>
      groupBy(all, ({ bot_id }) => bot_id)
    const statesBy = ofBot(states)
    const installationsBy = ofBot(installations)
    const filesBy = ofBot(failedFiles)
    const began = new Map(successes.map((row) => [receiverOf(row), row.began]))
    const deliveries = divide(failed, began, {
      receiversOf: (row) => [receiverOf(row)],
      timeOf: ({ updated_at }) => updated_at,
      botOf: ({ bot_id }) => bot_id,
    })
    const lineTimes = divide(lines, began, {
      receiversOf: (line) => receiversOfLine(line, installationsBy.get(line.botId) ?? []),
      timeOf: ({ createdAt }) => createdAt,
      botOf: ({ botId }) => botId,
    })
    const health = rows.map((bot) =>
      healthOf({
        bot,
        receivers: statesBy.get(bot.id) ?? [],
        installations: installationsBy.get(bot.id) ?? [],
        lastMessageAt: messages.get(bot.id),
        failedDeliveries: deliveries.summaryOf(bot.id, 'now'),
        failedFiles: summaryOf(filesBy.get(bot.id), ({ updated_at }) => updated_at),
        errorLines: lineTimes.summaryOf(bot.id, 'now'),
        past: {
          failedDeliveries: deliveries.summaryOf(bot.id, 'past'),
          errorLines: lineTimes.summaryOf(bot.id, 'past'),
        },
        hosted: hosted.get(bot.id) ?? new Set(),
        unreachable: silent.get(bot.id),
      }),
    )
    const oldest = waiting.toSorted((one, other) =>
      one.oldest.createdAt < other.oldest.createdAt ? -1 : 1,
    )[0]
    const sum = (counts: readonly number[]) =>
      Math.min(
        mostCounted,
        counts.reduce((total, count) => total + count, 0),
      )
    const perReceiver = [...groupBy(allFailed, receiverOf).values()]
    return {
      asOf: isoTime(now),
      bots: health.toSorted(byUrgency).slice(0, mostShown),
      counts: {
        bots: sum([counted.get(scope.workspaceId) ?? 0]),
        botsNeedingAttention: sum([health.filter(needsAttention).length]),
        integrations: sum([(await deps.integrations.idsIn(scope.workspaceId)).length]),
        files: sum(files.map(({ all }) => all)),
        conversations: sum(conversations),
      },
      deliveries: { waiting: sum(waiting.map(({ count }) => count)), oldest },
      files: {
        waiting: sum(files.map((each) => each.waiting)),
        failed: sum(files.map((each) => each.failed)),
      },
      errors: {
        groups: groupErrors(
          [...failed.map(ofDelivery), ...failedFiles.map(ofFile), ...lines.map(ofLine)],
          now - coveredHours * hour,
        ).slice(0, mostGroups),
        since,
        isComplete:
          logs.isAll &&
          allFailedFiles.length < mostRead.files &&
          perReceiver.every(({ length }) => length < mostRead.deliveries),
      },
      operator: undefined,
    }
  }

  /** What only the operator sees: jobs belong to no workspace. */
  async function addServer(overview: Overview): Promise<Overview> {
    const dead = await queue.listDead({ limit: mostCounted })
    const disks = (await diskSpaces(deps.folders)).map((disk): Disk => {
      const { freeBytes, totalBytes } = disk
      return { ...disk, isLow: freeBytes < Math.max(lowDisk.bytes, lowDisk.share * totalBytes) }
    })
    const { errors } = overview
    const jobs = groupErrors(dead.map(ofJob), Date.parse(errors.since))
    const groups = [...errors.groups, ...jobs].sort((one, other) => other.count - one.count)
    return {
      ...overview,
      errors: { ...errors, groups: groups.slice(0, mostGroups) },
      operator: { deadJobs: dead.length, disks },
    }
  }

  return {
    async get({ workspaceId, accountId }: WorkspaceActor): Promise<Overview> {
      const overview = (await cache.get(workspaceId)) ?? (await determine({ workspaceId }))
      return (await deps.accounts.isOperator(accountId)) ? await addServer(overview) : overview
    },

    /** Resolves the errors of a group until now, or until the newest one that the caller has seen. */
    async resolve(
      actor: WorkspaceActor,
      fingerprint: string,
      { lastAt }: Body<typeof contract.overview.resolveErrors>,
    ): Promise<void> {
      const { workspaceId, accountId } = actor
      const { errors } = await determine({ workspaceId })
      const group = errors.groups.find(({ id }) => id === fingerprint)
      if (group?.botId === undefined) {
        const resolved = await store.listResolved(db, workspaceId)
        if (resolved.has(fingerprint)) return
        throw new ApiError(
          'ResourceNotFound',
          `There is no group of errors ${fingerprint} in the last 24 hours of this workspace.`,
        )
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
      await deps.run(async (tx) => {
        await holdWorkspace(tx, actor)
        await store.putResolved(tx, row)
      })
      cache.forget((key) => key === workspaceId)
    },

    /** Shows the errors of a group again. */
    async reopen({ workspaceId }: WorkspaceActor, fingerprint: string): Promise<void> {
      const wasResolved = await deps.run((tx) => store.deleteResolved(tx, workspaceId, fingerprint))
      if (!wasResolved) {
        throw new ApiError(
          'ResourceNotFound',
          `There is no resolved group of errors ${fingerprint} in this workspace.`,
        )
      }
      cache.forget((key) => key === workspaceId)
    },

    /** Deletes some resolutions that are older than their retention; returns how many. */
    sweep: (tx: Tx) =>
      store.deleteOldResolved(tx, isoTime(clock.now() - deps.retentionMs), sweptAtOnce),

    removeWorkspace: store.deleteResolvedOfWorkspace,

    async purge(botId: string): Promise<void> {
      await purge(deps.run, (tx, limit) => store.deleteSomeResolved(tx, botId, limit))
    },
  }
}

function needsAttention({ status }: BotHealth): boolean {
  return status === 'attention'
}

function byUrgency(one: BotHealth, other: BotHealth): number {
  const [left, right] = [Number(needsAttention(one)), Number(needsAttention(other))]
  return right - left || (one.name < other.name ? -1 : 1)
}

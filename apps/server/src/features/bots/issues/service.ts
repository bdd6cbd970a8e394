import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { createRateLimiter } from '../../../platform/security/rate-limit.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { recordAct } from '../../tenancy/audit/index.js'
import type { BotProfiles, BotsService } from '../bots/index.js'
import { type IssueReport, type StoredReport, toStored } from './grouping.js'
import * as store from './store.js'

export interface IssuesDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  pager: Pager
  log: Pick<Log, 'warn'>
  bots: Pick<BotsService, 'requireIn' | 'holdAnywhere'>
  botProfiles: Pick<BotProfiles, 'of'>
  /** Milliseconds for which issues are kept after they happened last. */
  retentionMs: number
}

/** Reports of one problem that are not stored yet. */
interface Waiting {
  report: StoredReport
  count: number
  /** The newest of them. */
  events: { data: StoredReport['data']; at: number }[]
  firstAt: number
  lastAt: number
}

/** Maximum number of issues of a bot, and of events of an issue, that are kept. */
const maxIssues = 100
const maxEvents = 50
/** Milliseconds for which reports are collected, so that a flood of them is one change. */
const collectedMs = 250
/** Maximum number of problems of one bot that wait to be stored; others are not counted. */
const maxWaiting = 100
/** Maximum number of events of one problem that are stored at once, and in a minute; all are counted. */
const eventsAtOnce = 5
const eventsPerMinute = 30
/** Maximum number of events of all problems of one bot that are stored in a minute. */
const eventsOfBotPerMinute = 300
/** Maximum number of old issues that one call of the sweep deletes. */
const sweptAtOnce = 100

export type IssuesService = ReturnType<typeof createIssuesService>

/** Issues of bots: reports of problems of their code, grouped by problem and counted. */
export function createIssuesService(deps: IssuesDeps) {
  const { clock } = deps
  const waiting = new Map<string, Map<string, Waiting>>()
  const perMinute = (count: number) => createRateLimiter({ perMinute: count, burst: count, clock })
  const ofProblems = perMinute(eventsPerMinute)
  const ofBots = perMinute(eventsOfBotPerMinute)
  let timer: NodeJS.Timeout | undefined
  let stored: Promise<void> = Promise.resolve()

  function report(botId: string, given: IssueReport): void {
    const ofBot = waiting.get(botId) ?? new Map<string, Waiting>()
    waiting.set(botId, ofBot)
    const next = toStored(given)
    const known = ofBot.get(next.fingerprint)
    if (known === undefined && ofBot.size >= maxWaiting) return
    const at = clock.now()
    const events = known?.events ?? []
    if (ofProblems.take(`${botId} ${next.fingerprint}`).allowed && ofBots.take(botId).allowed) {
      events.push({ data: next.data, at })
      if (events.length > eventsAtOnce) events.shift()
    }
    ofBot.set(next.fingerprint, {
      report: next,
      count: (known?.count ?? 0) + 1,
      events,
      firstAt: known?.firstAt ?? at,
      lastAt: at,
    })
    timer ??= setTimeout(() => void flush(), collectedMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    stored = stored.then(storeWaiting)
    return stored
  }

  async function storeWaiting(): Promise<void> {
    const taken = [...waiting]
    waiting.clear()
    for (const [botId, ofBot] of taken) {
      await storeIssuesOf(deps, botId, [...ofBot.values()]).catch((err: unknown) =>
        deps.log.warn({ err, botId }, 'issues of deployed code could not be stored'),
      )
    }
  }

  return {
    ...bound(deps, {
      page: pageIssues,
      require: requireIssue,
      listEvents,
      remove: removeIssue,
      sweep: sweepIssues,
      purge: purgeIssues,
    }),
    /** Counts a problem of a bot; it is stored a moment later. */
    report,
    /** Counts a problem that an integration reports for a bot, unless it is not installed there. */
    async reportByIntegration(
      { integrationId, botId }: { integrationId: string; botId: string },
      given: IssueReport,
    ): Promise<void> {
      const profile = await deps.botProfiles.of(botId)
      if (profile.hasIntegration(integrationId)) report(botId, given)
    },
    /** Stores the reports that wait. */
    flush,
  }
}

async function storeIssuesOf(deps: IssuesDeps, botId: string, problems: Waiting[]): Promise<void> {
  // In the same order in every process, so that two of them cannot deadlock.
  problems.sort((a, b) => (a.report.fingerprint < b.report.fingerprint ? -1 : 1))
  await deps.run(async (tx) => {
    // A program may still report a problem after its bot was deleted, and its rows with it.
    if (!(await deps.bots.holdAnywhere(tx, botId))) return
    for (const problem of problems) await storeIssue(deps, tx, botId, problem)
    const surplus = await store.listSurplus(tx, botId, maxIssues, maxWaiting)
    await store.deleteIssues(tx, surplus)
  })
}

async function storeIssue(
  { ids }: IssuesDeps,
  tx: Tx,
  botId: string,
  problem: Waiting,
): Promise<void> {
  const { data: _, groupedData, ...report } = problem.report
  const issueId = await store.countIssue(tx, {
    id: ids.next('iss'),
    bot_id: botId,
    ...report,
    grouped_data: encodeJson(groupedData),
    events_count: problem.count,
    created_at: isoTime(problem.firstAt),
    last_seen_at: isoTime(problem.lastAt),
  })
  const events = problem.events.map(({ data, at }) => ({
    id: ids.next('issevt'),
    bot_id: botId,
    issue_id: issueId,
    data: encodeJson(data),
    created_at: isoTime(at),
  }))
  await store.addEvents(tx, issueId, events, maxEvents)
}

async function requireIssue(
  { bots, db }: IssuesDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<store.IssueRow> {
  await bots.requireIn(actor, botId)
  const issue = await store.findIssue(db, botId, id)
  if (issue === undefined) throw notFound('issue', id, 'of this bot')
  return issue
}

async function pageIssues(
  deps: IssuesDeps,
  actor: WorkspaceActor,
  botId: string,
  { nextToken, pageSize }: Query<typeof contract.botIssues.list>,
): Promise<Page<store.IssueRow>> {
  await deps.bots.requireIn(actor, botId)
  const page = deps.pager.page({
    operation: 'listBotIssues',
    scope: botId,
    sort: 'last_seen_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  return await store.pageIssues(deps.db, botId, page)
}

async function listEvents(
  deps: IssuesDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<store.IssueEventRow[]> {
  await requireIssue(deps, actor, botId, id)
  return await store.listEvents(deps.db, botId, id)
}

async function removeIssue(
  deps: IssuesDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<void> {
  const { bots, run } = deps
  await bots.requireIn(actor, botId)
  await run(
    async (tx) => {
      if ((await store.findIssue(tx, botId, id)) === undefined) {
        throw notFound('issue', id, 'of this bot')
      }
      await store.deleteIssues(tx, [id])
      recordAct(deps, tx, actor, { resourceId: id, changes: { botId: { to: botId } } })
    },
    { mayUseReserve: true },
  )
}

/** Deletes some of the issues that happened last before the retention time. @returns how many */
async function sweepIssues(deps: IssuesDeps, tx: Tx): Promise<number> {
  const old = await store.listOld(tx, isoTime(deps.clock.now() - deps.retentionMs), sweptAtOnce)
  await store.deleteIssues(tx, old)
  return old.length
}

/** Deletes the rows of a deleted bot. */
async function purgeIssues({ run }: IssuesDeps, botId: string): Promise<void> {
  await purge(run, (tx, limit) => store.deleteSomeOf(tx, botId, limit))
}

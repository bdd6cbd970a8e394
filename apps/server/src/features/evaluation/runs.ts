import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { compareRuns, type Measures } from '../../domain/ranking-measures.js'
import { notFound } from '../../domain/refusals.js'
import { bound } from '../../platform/bound.js'
import { isoTime } from '../../platform/clock.js'
import { encodeJson } from '../../platform/db/columns.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Tx } from '../../platform/db/schema.js'
import type { Remember } from '../../platform/idempotency/store.js'
import type { EvaluationDeps } from './dependencies.js'
import { compareDocuments, type DocumentChange } from './documents.js'
import * as store from './runs-store.js'
import type { SetsService } from './sets.js'
import type { ResultRow, RunRow } from './table.js'

type NewRun = Body<typeof contract.evaluationRuns.start>
type Paging = Query<typeof contract.evaluationRuns.list>
type ResultsQuery = Query<typeof contract.evaluationRuns.listResults>

/** Name of the job that does a part of the runs of a bot; its key is the id of the bot. */
export const evaluationJob = 'search.evaluation'

/** Milliseconds of one turn of a bot. */
const deadlineMs = 60 * 60 * 1000
const maxAttempts = 5
/** Runs of a bot that wait or are running. */
const maxUnfinished = 20
const maxChanged = 100
const maxDocuments = 100

/** A case with another result in two runs. */
interface ChangedCase {
  id: string
  question: string
  before: number
  after: number
  rankBefore: number | null
  rankAfter: number | null
}

/** The differences between two runs. */
export interface RunComparison {
  run: RunRow
  baseline: RunRow
  cases: number
  measures: Record<keyof Measures, { difference: number; pValue: number }>
  better: number
  worse: number
  changed: ChangedCase[]
  documents: DocumentChange[]
  documentsChanged: number
}

export type RunsService = ReturnType<typeof createRunsService>

interface RunsDeps extends EvaluationDeps {
  sets: Pick<SetsService, 'require' | 'lock'>
}

/** Runs of evaluation sets and their results. */
export function createRunsService(deps: RunsDeps) {
  return bound(deps, {
    require: requireRun,
    start: startRun,
    list: listRuns,
    remove: removeRun,
    listResults: listRunResults,
    compare: compareWithBaseline,
  })
}

async function requireRun(
  { sets, db }: RunsDeps,
  actor: BotActor,
  setId: string,
  id: string,
): Promise<RunRow> {
  await sets.require(actor, setId)
  const row = await store.findRun(db, actor.botId, setId, id)
  if (row === undefined) {
    throw notFound('run', id, 'of this evaluation set')
  }
  return row
}

async function startRun(
  { sets, ids, clock, run, queue }: RunsDeps,
  actor: BotActor,
  setId: string,
  { parameters = {}, note = '' }: NewRun,
  remember: Remember<RunRow>,
): Promise<RunRow> {
  await sets.require(actor, setId)
  const { botId } = actor
  const row: RunRow = {
    id: ids.next('evalrun'),
    bot_id: botId,
    set_id: setId,
    state: 'waiting',
    note,
    parameters: encodeJson(parameters),
    total: 0,
    done: 0,
    degraded: encodeJson([]),
    summary: null,
    failed_reason: null,
    created_at: isoTime(clock.now()),
    completed_at: null,
  }
  await run(async (tx) => {
    // The set may have been deleted in the meantime.
    await sets.lock(tx, actor, setId)
    const used = await store.countUnfinished(tx, botId)
    if (used >= maxUnfinished) {
      throw new ApiError(
        'QuotaExceeded',
        `${used} runs of this bot are not completed, and at most ${maxUnfinished} may be: wait, or delete one.`,
        { metadata: { quota: 'evaluationRuns', used, allowed: maxUnfinished } },
      )
    }
    await store.insertRun(tx, row)
    await requestTurn(queue, tx, botId)
    await remember?.(tx, row)
  })
  return row
}

/** Enqueues a turn of a bot, in which some cases of its runs are measured. It comes after those that wait already. */
export async function requestTurn(
  queue: EvaluationDeps['queue'],
  tx: Tx,
  botId: string,
): Promise<void> {
  await queue.enqueue(tx, {
    kind: evaluationJob,
    key: botId,
    payload: { botId },
    maxAttempts,
    deadlineMs,
    priority: 'low',
  })
}

async function listRuns(
  { sets, pager, db }: RunsDeps,
  actor: BotActor,
  setId: string,
  query: Paging,
): Promise<Page<RunRow>> {
  await sets.require(actor, setId)
  const { nextToken, pageSize } = query
  const page = pager.page({
    operation: 'listEvaluationRuns',
    scope: `${actor.botId} ${setId}`,
    sort: 'created_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  return await store.pageRuns(db, setId, page)
}

async function removeRun(
  deps: RunsDeps,
  actor: BotActor,
  setId: string,
  id: string,
): Promise<void> {
  await requireRun(deps, actor, setId, id)
  await deps.run(
    async (tx) => {
      await store.deleteRun(tx, id)
      await deps.removeLater(tx, { botId: actor.botId, runId: id })
    },
    { mayUseReserve: true },
  )
}

async function listRunResults(
  deps: RunsDeps,
  actor: BotActor,
  setId: string,
  id: string,
  { nextToken, pageSize, only }: ResultsQuery,
): Promise<Page<ResultRow>> {
  const { pager, db } = deps
  await requireRun(deps, actor, setId, id)
  const page = pager.page({
    operation: 'listEvaluationResults',
    scope: `${actor.botId} ${id}`,
    filter: { only },
    sort: 'ndcg',
    direction: 'asc',
    nextToken,
    pageSize,
  })
  return await store.pageResults(db, id, only, page)
}

async function compareWithBaseline(
  deps: RunsDeps,
  actor: BotActor,
  setId: string,
  id: string,
  baselineId: string | undefined,
): Promise<RunComparison> {
  const { db } = deps
  const newer = await requireRun(deps, actor, setId, id)
  const baseline =
    baselineId === undefined
      ? await store.findRunBefore(db, newer)
      : await store.findRun(db, actor.botId, setId, baselineId)
  if (baseline === undefined) {
    throw new ApiError(
      'ReferenceNotFound',
      baselineId === undefined
        ? 'The evaluation set has no completed run before this one: name one with query.baselineId.'
        : `query.baselineId: there is no run ${baselineId} of this evaluation set.`,
      { metadata: { in: 'query', field: 'baselineId' } },
    )
  }
  for (const each of [newer, baseline]) {
    if (each.state === 'completed') continue
    throw new ApiError(
      'RelationConflict',
      `The run ${each.id} is ${each.state}: only completed runs can be compared.`,
    )
  }
  const results = compareResults(
    await store.listFigures(db, baseline.id),
    await store.listFigures(db, newer.id),
  )
  const [first, second] = [baseline.id, newer.id].toSorted()
  const between = { older: first ?? '', newer: second ?? '' }
  const documents = await compareDocuments(deps, actor.botId, between)
  return {
    run: newer,
    baseline,
    ...results,
    documents: documents.slice(0, maxDocuments),
    documentsChanged: documents.length,
  }
}

/** Compares the results of cases that both runs have. */
function compareResults(
  older: readonly store.Figures[],
  newer: readonly store.Figures[],
): Pick<RunComparison, 'cases' | 'measures' | 'better' | 'worse' | 'changed'> {
  const known = new Map(older.filter(isAnswerable).map((each) => [each.id, each]))
  const pairs = newer.filter(isAnswerable).flatMap((after) => {
    const before = known.get(after.id)
    return before === undefined ? [] : [{ before, after }]
  })
  const changeOf = (measure: keyof Measures) => {
    const { difference, pValue } = compareRuns(
      new Map(pairs.map(({ before }) => [before.id, before[measure]])),
      new Map(pairs.map(({ after }) => [after.id, after[measure]])),
    )
    return { difference, pValue }
  }
  const changed = pairs
    .filter(({ before, after }) => Math.abs(after.ndcg - before.ndcg) > 1e-9)
    .sort((a, b) => a.after.ndcg - a.before.ndcg - (b.after.ndcg - b.before.ndcg))
  const worse = changed.filter(({ before, after }) => after.ndcg < before.ndcg).length
  return {
    cases: pairs.length,
    measures: { ndcg: changeOf('ndcg'), recall: changeOf('recall'), mrr: changeOf('mrr') },
    better: changed.length - worse,
    worse,
    changed: changed.slice(0, maxChanged).map(({ before, after }) => ({
      id: after.id,
      question: after.question,
      before: before.ndcg,
      after: after.ndcg,
      rankBefore: before.rank,
      rankAfter: after.rank,
    })),
  }
}

function isAnswerable({ answerable }: store.Figures): boolean {
  return answerable === 1
}

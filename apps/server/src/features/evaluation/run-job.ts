import { setTimeout as sleep } from 'node:timers/promises'
import {
  advisedMinScore,
  judgeThreshold,
  mean,
  quantile,
  separate,
  suggestThreshold,
} from '../../domain/ranking-measures.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import { purge } from '../../platform/db/purge.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { EvaluationDeps, EvaluationParameters, Removal } from './dependencies.js'
import { forgetDocuments, recordDocuments } from './documents.js'
import { judge } from './judge.js'
import { purgeRun } from './run-removal.js'
import { evaluationJob, requestTurn } from './runs.js'
import * as runs from './runs-store.js'
import * as sets from './sets-store.js'
import type { CaseRow, ResultRow, RunRow } from './table.js'
import { type ResolvedTarget, resolveTargets, type StoredTarget, withPlace } from './targets.js'

/** Name of the job that deletes the rows of a removed set or run. */
export const removalJob = 'search.evaluation.removal'

/** The figures of a completed run, as they are stored. */
export type RunSummary = ReturnType<typeof summarize>

/** Cases whose results are stored in one transaction. */
const casesAtOnce = 10
/** Cases after which the runs of other bots have their turn. */
const maxCasesOfTurn = 50
/** Runs of a set that are kept. */
const maxRuns = 100
/** Maximum pause before a question while other searches wait, and the pause between two checks, in milliseconds. */
const maxPauseMs = 5000
const pauseStepMs = 20

/** The jobs that do runs and delete the rows of removed sets and runs. */
export function createEvaluationJobs(deps: EvaluationDeps): Record<string, JobHandler> {
  const { db, run, clock, queue } = deps

  const evaluate: JobHandler<{ botId: string }, void> = {
    async handler({ payload: { botId } }, { signal }) {
      const turn: Turn = { casesLeft: maxCasesOfTurn, signal }
      while (turn.casesLeft > 0) {
        const next = await runs.findNextRun(db, botId)
        if (next === undefined) return
        await perform(deps, next, turn)
      }
    },
    async onDone(tx, { payload: { botId } }) {
      if ((await runs.countUnfinished(tx, botId)) > 0) await requestTurn(queue, tx, botId)
    },
    async onDead(tx, { id, payload: { botId } }, error) {
      const failed_reason = `A search failed: ${error.message.slice(0, 500)} Start the run again; the log has more under the job ${id}.`
      await runs.failUnfinished(tx, botId, { failed_reason, completed_at: isoTime(clock.now()) })
    },
  }

  const remove: JobHandler<Removal, void> = {
    mayUseReserve: true,
    async handler({ payload }) {
      if ('runId' in payload) {
        await purgeRun(run, payload.runId)
        return
      }
      const { botId, setId } = payload
      for (const id of await runs.listRunIds(db, botId, setId)) await purgeRun(run, id)
      await purge(run, (tx, limit) => sets.deleteCasesOf(tx, setId, limit))
    },
  }

  return { [evaluationJob]: evaluate, [removalJob]: remove }
}

/** What a bot may do until it is the turn of another one. */
interface Turn {
  casesLeft: number
  readonly signal: AbortSignal
}

/** Measures cases of a run until it is complete or the turn is over. */
async function perform(deps: EvaluationDeps, row: RunRow, turn: Turn): Promise<void> {
  const { db, run, log } = deps
  const { id, bot_id: botId, set_id: setId } = row
  if (row.state === 'waiting') await begin(deps, row, turn.signal)
  let after = (await runs.findLastCase(db, id)) ?? ''
  let { done } = row
  const degraded = new Set(decodeJson<string[]>(row.degraded))
  for (;;) {
    const cases = await sets.listCases(db, setId, { after, limit: casesAtOnce })
    const last = cases.at(-1)
    if (last === undefined) break
    if (turn.casesLeft <= 0) return
    const { results, moved } = await judgeCases(deps, row, cases, degraded, turn.signal)
    done += results.length
    turn.casesLeft -= results.length
    const goesOn = await run(async (tx) => {
      const patch = { done, degraded: encodeJson([...degraded]) }
      if (!(await runs.patchRun(tx, id, patch))) return false
      await runs.insertResults(tx, results)
      for (const each of moved) {
        const before = cases.find((row) => row.id === each.id)
        await sets.patchTargets(tx, each.id, before, each)
      }
      return true
    })
    if (!goesOn) return
    after = last.id
  }
  await complete(deps, row)
  log.info({ bot: botId, run: id, cases: done }, 'evaluation run completed')
}

/** Asks the questions of some cases. Returns the results, and the targets that have another place than before. */
async function judgeCases(
  deps: EvaluationDeps,
  { id, bot_id: botId, ...row }: RunRow,
  cases: readonly CaseRow[],
  degraded: Set<string>,
  signal: AbortSignal,
) {
  const parameters = decodeJson<EvaluationParameters>(row.parameters)
  const results: ResultRow[] = []
  const moved: { id: string; right: string; wrong: string }[] = []
  for (const each of cases) {
    const targets = await resolveCase(deps, each)
    const { found, ...asked } = await askPatiently(deps, botId, each.question, parameters, signal)
    for (const name of asked.degraded) degraded.add(name)
    const { details, ...judged } = toResult(judge(found, targets))
    results.push({
      run_id: id,
      id: each.id,
      bot_id: botId,
      question: each.question,
      milliseconds: asked.milliseconds,
      ...judged,
      details: encodeJson(details),
    })
    const right = encodeJson(targets.right.map(withPlace))
    const wrong = encodeJson(targets.wrong.map(withPlace))
    if (right !== each.right_targets || wrong !== each.wrong_targets) {
      moved.push({ id: each.id, right, wrong })
    }
  }
  return { results, moved }
}

async function begin(
  deps: EvaluationDeps,
  { id, bot_id: botId, set_id: setId }: RunRow,
  signal: AbortSignal,
) {
  await recordDocuments(deps, botId, id, signal)
  await deps.run(async (tx) => {
    const set = await sets.findSet(tx, botId, setId)
    await runs.patchRun(tx, id, { state: 'running', total: set?.cases ?? 0 })
  })
}

async function resolveCase(
  { db, clock }: EvaluationDeps,
  { bot_id: botId, right_targets, wrong_targets }: CaseRow,
) {
  const right = decodeJson<StoredTarget[]>(right_targets)
  const wrong = decodeJson<StoredTarget[]>(wrong_targets)
  const now = isoTime(clock.now())
  const resolved = await resolveTargets(db, { botId, now }, [...right, ...wrong])
  return {
    right: resolved.slice(0, right.length),
    wrong: resolved.slice(right.length),
  } satisfies Record<string, ResolvedTarget[]>
}

/** Searches when no other search waits, and then rests as long as the search took. */
async function askPatiently(
  { load, ask }: EvaluationDeps,
  botId: string,
  question: string,
  parameters: EvaluationParameters,
  signal: AbortSignal,
) {
  for (let waited = 0; load().waiting > 0 && waited < maxPauseMs; waited += pauseStepMs) {
    await sleep(pauseStepMs, undefined, { signal })
  }
  signal.throwIfAborted()
  const start = performance.now()
  const asked = await ask(botId, question, parameters, signal)
  const milliseconds = performance.now() - start
  await sleep(Math.min(maxPauseMs, milliseconds), undefined, { signal })
  return { ...asked, milliseconds }
}

async function complete(
  deps: EvaluationDeps,
  { id, bot_id: botId, set_id: setId }: RunRow,
): Promise<void> {
  const { db, run, clock } = deps
  const figures = await runs.listFigures(db, id)
  await run((tx) =>
    runs.patchRun(tx, id, {
      state: 'completed',
      total: figures.length,
      done: figures.length,
      summary: encodeJson(summarize(figures)),
      completed_at: isoTime(clock.now()),
    }),
  )
  const ofSet = await runs.listRunIds(db, botId, setId)
  for (const old of ofSet.slice(maxRuns)) await purgeRun(run, old)
  const oldest = (await runs.listRunIds(db, botId)).at(-1)
  if (oldest !== undefined) await forgetDocuments(deps, botId, oldest)
}

function toResult({ isAnswerable, found, missing, ...figures }: ReturnType<typeof judge>) {
  return { ...figures, answerable: encodeBoolean(isAnswerable), details: { found, missing } }
}

/** The figures of all cases together. */
function summarize(figures: readonly runs.Figures[]) {
  const answerable = figures.filter((each) => each.answerable === 1)
  const others = figures.filter((each) => each.answerable !== 1)
  const milliseconds = figures.map((each) => each.milliseconds)
  const scoresOf = (some: readonly runs.Figures[]) => some.map(({ score }) => score)
  return {
    mean: {
      ndcg: mean(answerable.map(({ ndcg }) => ndcg)),
      recall: mean(answerable.map(({ recall }) => recall)),
      mrr: mean(answerable.map(({ mrr }) => mrr)),
    },
    answerable: answerable.length,
    misses: answerable.filter(({ ndcg }) => ndcg < runs.perfect).length,
    wrong: figures.filter(({ wrong }) => wrong > 0).length,
    gone: figures.filter(({ gone }) => gone > 0).length,
    unanswerable: others.length,
    falseHits: others.filter(({ ndcg }) => ndcg < runs.perfect).length,
    ...(answerable.length > 0 &&
      others.length > 0 && {
        separation: separate(scoresOf(answerable), scoresOf(others)).chance,
        thresholds: {
          advised: judgeThreshold(scoresOf(answerable), scoresOf(others), advisedMinScore),
          suggested: suggestThreshold(scoresOf(answerable), scoresOf(others)),
        },
      }),
    milliseconds: { p50: quantile(milliseconds, 0.5), p95: quantile(milliseconds, 0.95) },
  }
}

import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../platform/db/columns.js'
import type { ResolvedCase } from './cases.js'
import type { ResultDetails } from './judge.js'
import type { RunSummary } from './run-job.js'
import type { RunComparison } from './runs.js'
import type { ResultRow, RunRow, SetRow } from './table.js'
import type { ResolvedTarget, StoredTarget } from './targets.js'

type WireSet = Output<typeof contract.evaluationSets.get>['evaluationSet']
type WireCase = Output<typeof contract.evaluationCases.create>['evaluationCase']
type WireTarget = WireCase['right'][number]
type WireRun = Output<typeof contract.evaluationRuns.get>['evaluationRun']
type WireResult = Output<typeof contract.evaluationRuns.listResults>['evaluationResults'][number]
type WireComparison = Output<typeof contract.evaluationRuns.compare>['comparison']

export function toSet({ id, name, cases, created_at, updated_at }: SetRow): WireSet {
  return { id, name, cases, createdAt: created_at, updatedAt: updated_at }
}

export function toCase({ row, right, wrong }: ResolvedCase): WireCase {
  return {
    id: row.id,
    ...(row.key !== null && { key: row.key }),
    question: row.question,
    right: right.map(toResolved),
    wrong: wrong.map(toResolved),
    note: row.note,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function toResolved({ target, state, file, passage }: ResolvedTarget): WireTarget {
  const current = passage && target.passage && { ...target.passage, id: passage.id }
  return toTarget(
    { ...target, fileKey: file?.key ?? target.fileKey, ...(current && { passage: current }) },
    state,
  )
}

function toTarget(
  { fileId, fileKey, grade, passage }: StoredTarget,
  state: ResolvedTarget['state'],
): WireTarget {
  return {
    fileId,
    fileKey,
    // A passage that was imported has no id until it is found.
    ...(passage && passage.id !== '' && { passageId: passage.id }),
    ...(passage && { text: passage.text }),
    grade,
    state,
  }
}

export function toRun(row: RunRow): WireRun {
  return {
    id: row.id,
    state: row.state,
    ...(row.failed_reason !== null && { failedReason: row.failed_reason }),
    note: row.note,
    parameters: decodeJson(row.parameters),
    total: row.total,
    done: row.done,
    degraded: decodeJson(row.degraded),
    ...(row.summary !== null && { summary: decodeJson<RunSummary>(row.summary) }),
    createdAt: row.created_at,
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  }
}

export function toResult(row: ResultRow): WireResult {
  const { found, missing } = decodeJson<ResultDetails>(row.details)
  const { ndcg, recall, mrr } = row
  return {
    caseId: row.id,
    question: row.question,
    ...(row.answerable === 1 && { measures: { ndcg, recall, mrr } }),
    ...(row.rank !== null && { rank: row.rank }),
    score: row.score,
    wrong: row.wrong,
    missing: missing.map(({ target, state }) => toTarget(target, state)),
    found,
    milliseconds: row.milliseconds,
  }
}

export function toComparison({
  run,
  baseline,
  changed,
  ...figures
}: RunComparison): WireComparison {
  return {
    ...figures,
    run: toRun(run),
    baseline: toRun(baseline),
    changed: changed.map(({ id, question, before, after, rankBefore, rankAfter }) => ({
      caseId: id,
      question,
      before,
      after,
      ...(rankBefore !== null && { rankBefore }),
      ...(rankAfter !== null && { rankAfter }),
    })),
  }
}

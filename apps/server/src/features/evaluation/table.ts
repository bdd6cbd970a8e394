import type { Selectable } from 'kysely'
import type { JsonColumn, TimeColumn } from '../../platform/db/columns.js'

/** A named set of cases. */
interface EvaluationSetsTable {
  id: string
  bot_id: string
  name: string
  /** Number of its cases. */
  cases: number
  created_at: TimeColumn
  updated_at: TimeColumn
}

/** A question with its right and wrong answers. Ids are in the order of creation. */
export interface EvaluationCasesTable {
  id: string
  bot_id: string
  set_id: string
  /** Own id of the case. */
  key: string | null
  question: string
  /** JSON list of `StoredTarget`. */
  right_targets: JsonColumn
  wrong_targets: JsonColumn
  note: string
  created_at: TimeColumn
  updated_at: TimeColumn
}

/** A run of a set. Ids are in the order of creation. */
export interface EvaluationRunsTable {
  id: string
  bot_id: string
  set_id: string
  state: 'waiting' | 'running' | 'completed' | 'failed'
  note: string
  /** JSON of the parameters of its searches. */
  parameters: JsonColumn
  total: number
  done: number
  /** JSON list of retrievers that were not available. */
  degraded: JsonColumn
  /** JSON, once it is completed. */
  summary: JsonColumn | null
  failed_reason: string | null
  created_at: TimeColumn
  completed_at: TimeColumn | null
}

/** The result of a case in a run. */
export interface EvaluationResultsTable {
  run_id: string
  /** Id of the case. */
  id: string
  bot_id: string
  question: string
  /** Whether something should be found. */
  answerable: number
  /** Of a case that is not answerable: 1 if nothing was found, otherwise 0, as for the other measures. */
  ndcg: number
  recall: number
  mrr: number
  rank: number | null
  score: number
  wrong: number
  gone: number
  milliseconds: number
  /** JSON of `ResultDetails`. */
  details: JsonColumn
}

/**
 * The documents that could be found, by the runs that saw them: a row is valid from the run `since` up to, but
 * without, the run `until`.
 */
interface EvaluationDocumentsTable {
  bot_id: string
  file_id: string
  file_key: string
  /** Generation of the passages. */
  generation: number
  /** Hex, of the content; empty if it is not known. */
  sha256: string
  /** Id of a run. */
  since: string
  /** Id of a run; null while it is valid. */
  until: string | null
}

export type SetRow = Selectable<EvaluationSetsTable>
export type CaseRow = Selectable<EvaluationCasesTable>
export type RunRow = Selectable<EvaluationRunsTable>
export type ResultRow = Selectable<EvaluationResultsTable>
export type DocumentRow = Selectable<EvaluationDocumentsTable>

declare module '../../platform/db/schema.js' {
  interface Schema {
    evaluation_sets: EvaluationSetsTable
    evaluation_cases: EvaluationCasesTable
    evaluation_runs: EvaluationRunsTable
    evaluation_results: EvaluationResultsTable
    evaluation_documents: EvaluationDocumentsTable
  }
}

import type { Body, contract } from '@botstead/contract'
import type { Clock } from '../../platform/clock.js'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { Load } from '../../platform/workers/gate.js'
import type { FoundPassage } from '../search/index.js'

/** Parameters of the searches of a run. */
export type EvaluationParameters = NonNullable<
  Body<typeof contract.evaluationRuns.start>['parameters']
>

/** An order to remove a set or one run in the background. */
export type Removal = { botId: string } & ({ setId: string } | { runId: string })

/** Searches as the bot itself does. */
type Ask = (
  botId: string,
  question: string,
  parameters: EvaluationParameters,
  signal: AbortSignal,
) => Promise<{ found: FoundPassage[]; degraded: readonly string[] }>

/** The dependencies of evaluation from the rest of the server. */
export interface EvaluationOptions {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  queue: Queue
  log: Log
  ask: Ask
  /** Searches of this process that run and wait. */
  load(): Load
  limits: {
    /** Cases of a bot. */
    evaluationCases: number
  }
}

export interface EvaluationDeps extends EvaluationOptions {
  /** Deletes the rows of a removed set or run in small transactions. */
  removeLater(tx: Tx, removal: Removal): Promise<void>
}

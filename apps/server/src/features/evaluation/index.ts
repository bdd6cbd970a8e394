import { purge as purgeRows } from '../../platform/db/purge.js'
import type { FeatureWith } from '../feature.js'
import { createCasesService } from './cases.js'
import type { EvaluationOptions } from './dependencies.js'
import { deleteDocuments } from './documents-store.js'
import { createExchangeService } from './exchange.js'
import { evaluationRoutes } from './routes.js'
import { createEvaluationJobs, removalJob } from './run-job.js'
import { purgeRun } from './run-removal.js'
import { createRunsService } from './runs.js'
import { listRunIds } from './runs-store.js'
import { createSetsService } from './sets.js'
import { deleteCasesOf, deleteSet, listSetIds } from './sets-store.js'

/** Measures how well search answers questions whose answers are known. */
export type Evaluation = FeatureWith<'routes' | 'jobs' | 'purge'>

export function createEvaluation(options: EvaluationOptions): Evaluation {
  const { db, run, queue } = options
  const deps: Parameters<typeof createSetsService>[0] = {
    ...options,
    async removeLater(tx, removal) {
      const key = 'runId' in removal ? removal.runId : removal.setId
      await queue.enqueue(tx, { kind: removalJob, key, payload: removal })
    },
  }
  const sets = createSetsService(deps)
  const cases = createCasesService({ ...deps, sets })
  const exchange = createExchangeService({ ...deps, sets, cases })
  const runs = createRunsService({ ...deps, sets })
  return {
    name: 'evaluation',
    routes: evaluationRoutes({ sets, cases, exchange, runs }),
    jobs: createEvaluationJobs(deps),

    async purge(botId) {
      for (const id of await listRunIds(db, botId)) await purgeRun(run, id)
      for (const id of await listSetIds(db, botId)) {
        await purgeRows(run, (tx, limit) => deleteCasesOf(tx, id, limit))
        await run((tx) => deleteSet(tx, id), { mayUseReserve: true })
      }
      await purgeRows(run, (tx, limit) => deleteDocuments(tx, botId, limit))
    },
  }
}

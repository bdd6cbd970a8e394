import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { CasesService, ResolvedCase } from './cases.js'
import type { ExchangeService } from './exchange.js'
import type { RunsService } from './runs.js'
import type { SetsService } from './sets.js'
import type { RunRow, SetRow } from './table.js'
import { toCase, toComparison, toResult, toRun, toSet } from './view.js'

interface Services {
  sets: SetsService
  cases: CasesService
  exchange: ExchangeService
  runs: RunsService
}

export function evaluationRoutes(services: Services): Route[] {
  return [...setRoutes(services), ...caseRoutes(services), ...runRoutes(services)]
}

function setRoutes({ sets, exchange }: Services): Route[] {
  return [
    route(contract.evaluationSets.create, ({ actor, body, once }) =>
      once<SetRow>(
        (remember) => sets.create(actor, body, remember),
        (row) => ({ evaluationSet: toSet(row) }),
      ),
    ),
    route(contract.evaluationSets.list, async ({ actor, query }) => {
      const page = await sets.list(actor, query)
      return { evaluationSets: page.rows.map(toSet), meta: toPageMeta(page) }
    }),
    route(contract.evaluationSets.get, async ({ actor, params }) => ({
      evaluationSet: toSet(await sets.require(actor, params.id)),
    })),
    route(contract.evaluationSets.update, async ({ actor, params, body }) => ({
      evaluationSet: toSet(await sets.rename(actor, params.id, body.name)),
    })),
    route(contract.evaluationSets.remove, async ({ actor, params }) => {
      await sets.remove(actor, params.id)
      return {}
    }),
    route(contract.evaluationSets.export, async ({ actor, params, query }) => {
      const { lines, nextToken } = await exchange.exportCases(actor, params.id, query)
      return { lines, meta: { ...(nextToken !== undefined && { nextToken }) } }
    }),
    route(contract.evaluationSets.import, ({ actor, params, body }) =>
      exchange.importCases(actor, params.id, body.lines),
    ),
  ]
}

function caseRoutes({ cases }: Services): Route[] {
  return [
    route(contract.evaluationCases.create, ({ actor, params, body, once }) =>
      once<ResolvedCase>(
        (remember) => cases.add(actor, params.id, body, remember),
        (made) => ({ evaluationCase: toCase(made) }),
      ),
    ),
    route(contract.evaluationCases.list, async ({ actor, params, query }) => {
      const page = await cases.list(actor, params.id, query)
      return { evaluationCases: page.rows.map(toCase), meta: toPageMeta(page) }
    }),
    route(contract.evaluationCases.update, async ({ actor, params, body }) => ({
      evaluationCase: toCase(await cases.update(actor, params.id, params.caseId, body)),
    })),
    route(contract.evaluationCases.remove, async ({ actor, params }) => {
      await cases.remove(actor, params.id, params.caseId)
      return {}
    }),
  ]
}

function runRoutes({ runs }: Services): Route[] {
  return [
    route(contract.evaluationRuns.start, ({ actor, params, body, once }) =>
      once<RunRow>(
        (remember) => runs.start(actor, params.id, body, remember),
        (row) => ({ evaluationRun: toRun(row) }),
      ),
    ),
    route(contract.evaluationRuns.list, async ({ actor, params, query }) => {
      const page = await runs.list(actor, params.id, query)
      return { evaluationRuns: page.rows.map(toRun), meta: toPageMeta(page) }
    }),
    route(contract.evaluationRuns.get, async ({ actor, params }) => ({
      evaluationRun: toRun(await runs.require(actor, params.id, params.runId)),
    })),
    route(contract.evaluationRuns.remove, async ({ actor, params }) => {
      await runs.remove(actor, params.id, params.runId)
      return {}
    }),
    route(contract.evaluationRuns.listResults, async ({ actor, params, query }) => {
      const page = await runs.listResults(actor, params.id, params.runId, query)
      return { evaluationResults: page.rows.map(toResult), meta: toPageMeta(page) }
    }),
    route(contract.evaluationRuns.compare, async ({ actor, params, query }) => {
      const { id, runId } = params
      return { comparison: toComparison(await runs.compare(actor, id, runId, query.baselineId)) }
    }),
  ]
}

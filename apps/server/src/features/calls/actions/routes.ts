import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { ActionRuns } from './runs.js'
import type { ActionsService } from './service.js'
import type { RunRow } from './store.js'

export function actionsRoutes(service: ActionsService, runs: Pick<ActionRuns, 'page'>): Route[] {
  return [
    route(contract.actions.call, async ({ actor, body }) => {
      const { output, cached } = await service.call(actor, body)
      return { output, meta: { cached } }
    }),

    route(contract.actions.listRuns, async ({ actor, params, query }) => {
      const page = await runs.page(actor, params.id, query)
      return { data: page.rows.map(toRun), meta: toPageMeta(page) }
    }),
  ]
}

type WireRun = Output<typeof contract.actions.listRuns>['data'][number]

function toRun(row: RunRow): WireRun {
  return {
    timestamp: row.created_at,
    integrationName: row.integration,
    actionType: row.action,
    input: decodeJson(row.input),
    ...(row.input_truncated === 1 && { inputTruncated: true }),
    output: row.output === null ? null : decodeJson(row.output),
    ...(row.output_truncated === 1 && { outputTruncated: true }),
    status: row.error === null ? 'SUCCESS' : 'FAILURE',
    durationMs: row.duration_ms,
    cached: row.cached === 1,
    ...(row.error !== null && { errorMessage: row.error }),
  }
}

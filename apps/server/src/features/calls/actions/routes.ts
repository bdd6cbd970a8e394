import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { ActionRuns } from './runs.js'
import type { ActionsService } from './service.js'
import { toRun } from './view.js'

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

import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import {
  createWorkflowsService,
  timeoutWorkflowJob,
  type WorkflowsDeps,
  type WorkflowsService,
} from './service.js'
import { toWorkflow } from './view.js'

export { listWorkflowsIn, type WorkflowRow } from './store.js'
export { toWorkflow } from './view.js'

/** Workflows: work of bots that takes longer than one event. */
export function createWorkflows(deps: WorkflowsDeps): Feature & { service: WorkflowsService } {
  const service = createWorkflowsService(deps)
  const timeout: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.expire(botId, key)
    },
  }
  return {
    name: 'workflows',
    service,
    routes: workflowsRoutes(service),
    jobs: { [timeoutWorkflowJob]: timeout },
    purge: service.purge,
  }
}

function workflowsRoutes(service: WorkflowsService): Route[] {
  return [
    route(contract.workflows.create, async ({ actor, body, once }) =>
      once<Parameters<typeof toWorkflow>[0]>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ workflow: toWorkflow(made) }),
      ),
    ),

    route(contract.workflows.get, async ({ actor, params }) => ({
      workflow: toWorkflow(await service.get(actor, params.id)),
    })),

    route(contract.workflows.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { workflows: page.rows.map(toWorkflow), meta: toPageMeta(page) }
    }),

    route(contract.workflows.getOrCreate, async ({ actor, body }) => {
      const { workflow, created } = await service.getOrCreate(actor, body)
      return { workflow: toWorkflow(workflow), meta: { created } }
    }),

    route(contract.workflows.update, async ({ actor, params, body }) => ({
      workflow: toWorkflow(await service.update(actor, params.id, body)),
    })),

    route(contract.workflows.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),
  ]
}

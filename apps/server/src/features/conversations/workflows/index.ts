import type { Route } from '../../../http/mount.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { workflowsRoutes } from './routes.js'
import {
  createWorkflowsService,
  timeoutWorkflowJob,
  type WorkflowsDeps,
  type WorkflowsService,
} from './service.js'

export interface Workflows {
  service: WorkflowsService
  routes: Route[]
  jobs: Record<string, JobHandler>
}

/** Work of bots that takes longer than one event. */
export function createWorkflows(deps: WorkflowsDeps): Workflows {
  const service = createWorkflowsService(deps)
  const timeout: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.expire(botId, key)
    },
  }
  return { service, routes: workflowsRoutes(service), jobs: { [timeoutWorkflowJob]: timeout } }
}

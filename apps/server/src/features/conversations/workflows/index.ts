import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { workflowsRoutes } from './routes.js'
import {
  createWorkflowsService,
  timeoutWorkflowJob,
  type WorkflowsDeps,
  type WorkflowsService,
} from './service.js'

export interface Workflows extends Feature {
  service: WorkflowsService
}

/** Workflows: work of bots that takes longer than one event. */
export function createWorkflows(deps: WorkflowsDeps): Workflows {
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

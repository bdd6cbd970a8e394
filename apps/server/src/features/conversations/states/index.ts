import type { Route } from '../../../http/mount.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { statesRoutes } from './routes.js'
import {
  createStatesService,
  expireStateJob,
  type StatesDeps,
  type StatesService,
} from './service.js'

export interface States {
  service: StatesService
  routes: Route[]
  jobs: Record<string, JobHandler>
}

/** What bots and integrations remember. */
export function createStates(deps: StatesDeps): States {
  const service = createStatesService(deps)
  const expire: JobHandler<{ botId: string }> = {
    freesRoom: true,
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.expire(botId, key)
    },
  }
  return { service, routes: statesRoutes(service), jobs: { [expireStateJob]: expire } }
}

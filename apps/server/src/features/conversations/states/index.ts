import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { statesRoutes } from './routes.js'
import {
  createStatesService,
  expireStateJob,
  type StatesDeps,
  type StatesService,
} from './service.js'

export interface States extends Feature {
  service: StatesService
}

/** States: data that bots and integrations store for an owner, until the owner is deleted. */
export function createStates(deps: StatesDeps): States {
  const service = createStatesService(deps)
  const expire: JobHandler<{ botId: string }> = {
    mayUseReserve: true,
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.expire(botId, key)
    },
  }
  return {
    name: 'states',
    service,
    routes: statesRoutes(service),
    jobs: { [expireStateJob]: expire },
    on: {
      'user.removed': (tx, { botId, userId }) => service.removeOf(tx, botId, 'user', userId),
      'conversation.removed': (tx, { botId, id }) =>
        service.removeOf(tx, botId, 'conversation', id),
      'workflow.removed': (tx, { botId, workflowId }) =>
        service.removeOf(tx, botId, 'workflow', workflowId),
    },
    purge: service.purge,
  }
}

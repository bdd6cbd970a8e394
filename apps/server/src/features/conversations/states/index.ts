import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import {
  createStatesService,
  expireStateJob,
  type StatesDeps,
  type StatesService,
} from './service.js'
import { hasStates } from './store.js'
import { toState } from './view.js'

export { listStatesIn, type StateRow } from './store.js'
export { toState } from './view.js'

/** States: data that bots and integrations store for an owner, until the owner is deleted. */
export function createStates(deps: StatesDeps): Feature & { service: StatesService } {
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
      'conversation.unused': async (tx, { botId, id, keep }) => {
        if (await hasStates(tx, botId, 'conversation', id)) keep()
      },
      'workflow.removed': (tx, { botId, workflowId }) =>
        service.removeOf(tx, botId, 'workflow', workflowId),
      'installations.changed': async (tx, { changes }) => {
        for (const change of changes) await service.carryOver(tx, change)
      },
    },
    purge: service.purge,
  }
}

function statesRoutes(service: StatesService): Route[] {
  const meta = { cached: false }
  return [
    route(contract.states.get, async ({ actor, params }) => ({
      state: toState(await service.get(actor, params)),
      meta,
    })),

    route(contract.states.set, async ({ actor, params, body }) => ({
      state: toState(await service.set(actor, params, body)),
    })),

    route(contract.states.getOrSet, async ({ actor, params, body }) => ({
      state: toState(await service.getOrSet(actor, params, body)),
      meta,
    })),

    route(contract.states.patch, async ({ actor, params, body }) => ({
      state: toState(await service.patch(actor, params, body)),
    })),

    route(contract.states.setExpiry, async ({ actor, params, body }) => ({
      state: toState(await service.setExpiry(actor, params, body.expiry)),
    })),
  ]
}

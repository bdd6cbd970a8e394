import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import type { StatesService } from './service.js'
import { toState } from './view.js'

export function statesRoutes(service: StatesService): Route[] {
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

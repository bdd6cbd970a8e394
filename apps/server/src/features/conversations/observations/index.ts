import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import {
  createObservationsService,
  type ObservationsDeps,
  type ObservationsService,
} from './service.js'

export interface Observations {
  service: ObservationsService
  routes: Route[]
}

/** What bots report about themselves. */
export function createObservations(deps: ObservationsDeps): Observations {
  const service = createObservationsService(deps)
  return {
    service,
    routes: [
      route(contract.observations.trackAnalytics, async ({ actor, body }) => {
        await service.count(actor, body)
        return {}
      }),
      route(contract.observations.capture, async ({ actor, body }) => {
        await service.capture(actor, body)
        return {}
      }),
    ],
  }
}

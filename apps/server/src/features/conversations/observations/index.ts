import { contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Feature } from '../../feature.js'
import {
  createObservationsService,
  type ObservationsDeps,
  type ObservationsService,
} from './service.js'

export interface Observations extends Feature {
  service: ObservationsService
}

/** Milliseconds for which observations are kept: 30 days. Counts are kept forever. */
const retentionMs = 30 * 24 * 60 * 60 * 1000
const rowsAtOnce = 500

/** What bots report about themselves. */
export function createObservations(deps: ObservationsDeps): Observations {
  const service = createObservationsService(deps)
  const sweep = (tx: Tx) => service.trim(tx, isoTime(deps.clock.now() - retentionMs), rowsAtOnce)
  return {
    name: 'observations',
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
    sweeps: [sweep],
    purge: service.purge,
  }
}

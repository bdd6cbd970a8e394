import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { DeliveriesService } from './service.js'
import { toAttempt, toDelivery, toReceiver, toTestResult } from './view.js'

const { deliveries } = contract

export function deliveriesRoutes(service: DeliveriesService): Route[] {
  return [
    route(deliveries.list, async ({ actor, params, query }) => {
      const page = await service.list(actor, params.id, query)
      return { deliveries: page.rows.map(toDelivery), meta: toPageMeta(page) }
    }),

    route(deliveries.get, async ({ actor, params }) => {
      const { delivery, attempts } = await service.get(actor, params.id, params.deliveryId)
      return { delivery: { ...toDelivery(delivery), attemptLog: attempts.map(toAttempt) } }
    }),

    route(deliveries.replay, async ({ actor, params }) => ({
      delivery: toDelivery(await service.replay(actor, params.id, params.deliveryId)),
    })),

    route(deliveries.replayFailed, async ({ actor, params, body }) =>
      service.replayFailed(actor, params.id, body),
    ),

    route(deliveries.receivers, async ({ actor, params }) => ({
      receivers: (await service.listReceivers(actor, params.id)).map(toReceiver),
    })),

    route(deliveries.pause, async ({ actor, params, body }) => {
      await service.pause(actor, params.id, body.integration)
      return {}
    }),

    route(deliveries.resume, async ({ actor, params, body }) => {
      await service.resume(actor, params.id, body.integration)
      return {}
    }),

    route(deliveries.test, async ({ actor, params, body }) => ({
      result: toTestResult(await service.test(actor, params.id, body)),
    })),
  ]
}

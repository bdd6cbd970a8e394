import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { CallResult } from '../calls/requests/index.js'
import type { AttemptRow } from './attempt-store.js'
import { orderingKeyOf } from './queue-store.js'
import type { ReceiverRow } from './receiver-store.js'
import type { DeliveriesService } from './service.js'
import type { DeliveryRow } from './store.js'

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

type WireDelivery = Output<typeof deliveries.list>['deliveries'][number]
type WireAttempt = Output<typeof deliveries.get>['delivery']['attemptLog'][number]
type WireReceiver = Output<typeof deliveries.receivers>['receivers'][number]
type WireResult = Output<typeof deliveries.test>['result']

function toDelivery(row: DeliveryRow): WireDelivery {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    kind: row.kind,
    status: row.status,
    subjectId: row.subject_id,
    ...(row.integration !== '' && { integration: row.integration }),
    ...(row.order_key !== null && { orderKey: orderingKeyOf(row) }),
    attempts: row.attempts,
    ...(row.next_attempt_at !== null && { nextAttemptAt: row.next_attempt_at }),
    ...(row.last_error !== null && { lastError: row.last_error }),
  }
}

function toAttempt(row: AttemptRow): WireAttempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    ...(row.status !== null && { status: row.status }),
    ...(row.error !== null && { error: row.error }),
    ...(row.answer !== null && { answer: row.answer }),
  }
}

function toReceiver(row: ReceiverRow): WireReceiver {
  return {
    ...(row.integration !== '' && { integration: row.integration }),
    failures: row.failures,
    ...(row.failing_since !== null && { failingSince: row.failing_since }),
    ...(row.paused !== null && { paused: row.paused }),
    ...(row.paused_at !== null && { pausedAt: row.paused_at }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.probe_at !== null && { nextPingAt: row.probe_at }),
  }
}

function toTestResult({ verdict, durationMs, status, responseText }: CallResult): WireResult {
  return {
    delivered: verdict.result === 'delivered',
    durationMs,
    ...(status !== null && { status }),
    ...(responseText !== null && { answer: responseText }),
    ...(verdict.result !== 'delivered' && { error: verdict.error }),
  }
}

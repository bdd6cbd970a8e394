import type { contract, Output } from '@botstead/contract'
import type { CallResult } from '../calls/requests/index.js'
import type { AttemptRow } from './attempt-store.js'
import { orderingKeyOf } from './queue-store.js'
import type { ReceiverRow } from './receiver-store.js'
import type { DeliveryRow } from './store.js'

type Deliveries = typeof contract.deliveries
type WireDelivery = Output<Deliveries['list']>['deliveries'][number]
type WireAttempt = Output<Deliveries['get']>['delivery']['attemptLog'][number]
type WireReceiver = Output<Deliveries['receivers']>['receivers'][number]
type WireResult = Output<Deliveries['test']>['result']

export function toDelivery(row: DeliveryRow): WireDelivery {
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

export function toAttempt(row: AttemptRow): WireAttempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    ...(row.status !== null && { status: row.status }),
    ...(row.error !== null && { error: row.error }),
    ...(row.answer !== null && { answer: row.answer }),
  }
}

export function toReceiver(row: ReceiverRow): WireReceiver {
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

export function toTestResult({
  verdict,
  durationMs,
  status,
  responseText,
}: CallResult): WireResult {
  return {
    delivered: verdict.result === 'delivered',
    durationMs,
    ...(status !== null && { status }),
    ...(responseText !== null && { answer: responseText }),
    ...(verdict.result !== 'delivered' && { error: verdict.error }),
  }
}

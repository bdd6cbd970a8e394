import type { DeliveryRow } from '../src/features/deliveries/store.js'
import type { TestServer } from './harness.js'
import { inDatabase } from './tenancy/seed.js'

let made = 0

/** A delivery as it is stored. A pending one is parked, so that no dispatcher sends it. */
export function deliveryRow(row: Partial<DeliveryRow> & Pick<DeliveryRow, 'bot_id'>): DeliveryRow {
  made += 1
  const { integration = '', status = 'failed' } = row
  const at = row.created_at ?? new Date(Date.UTC(2026, 0, 1) + made * 1000).toISOString()
  return {
    id: `delivery_${String(made).padStart(8, '0')}`,
    integration,
    kind: integration === '' ? 'event_received' : 'message_created',
    subject_id: `subject_${made}`,
    order_key: null,
    position: 0,
    status,
    attempts: 0,
    spent: 0,
    owner: null,
    next_attempt_at: null,
    set_aside: status === 'pending' ? 1 : 0,
    last_error: null,
    code_ends: null,
    traceparent: null,
    created_at: at,
    updated_at: at,
    ...row,
  }
}

/** Stores deliveries, as another process on the same database would. */
export async function storeDeliveries(
  server: TestServer,
  rows: readonly DeliveryRow[],
): Promise<void> {
  await inDatabase(server, ({ run }) =>
    run(async (tx) => {
      for (const row of rows) await tx.insertInto('deliveries').values(row).execute()
    }),
  )
}

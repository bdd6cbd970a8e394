import type { Migration } from '../platform/db/migrate.js'

/** Deliveries continue the trace of the call that led to them. */
export const tracesOfDeliveries: Migration = {
  name: '0090-traces-of-deliveries',
  up: async (db) => {
    await db.schema.alterTable('deliveries').addColumn('traceparent', 'text').execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Jobs continue the trace of the call that enqueued them. */
export const tracesOfJobs: Migration = {
  name: '0090-traces-of-jobs',
  up: async (db) => {
    await db.schema.alterTable('jobs').addColumn('traceparent', 'text').execute()
  },
}

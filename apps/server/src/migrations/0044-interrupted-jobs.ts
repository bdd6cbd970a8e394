import type { Migration } from '../platform/db/migrate.js'

export const interruptedJobs: Migration = {
  name: '0044-interrupted-jobs',
  up: async (db) => {
    await db.schema
      .alterTable('jobs')
      .addColumn('interruptions', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

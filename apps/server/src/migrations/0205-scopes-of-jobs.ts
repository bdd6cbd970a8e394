import type { Migration } from '../platform/db/migrate.js'

/** Jobs know whom they work for, so that those of one workspace leave places for those of others. */
export const scopesOfJobs: Migration = {
  name: '0205-scopes-of-jobs',
  up: async (db) => {
    await db.schema
      .alterTable('jobs')
      .addColumn('scope', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    await db.schema.dropIndex('jobs_by_due').execute()
    await db.schema
      .createIndex('jobs_by_scope')
      .on('jobs')
      .columns(['kind', 'priority', 'scope', 'due_at', 'state'])
      .execute()
  },
}

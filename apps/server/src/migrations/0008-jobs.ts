import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const jobs: Migration = {
  name: '0008-jobs',
  up: async (db) => {
    await db.schema
      .createTable('jobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('priority', 'integer', (column) => column.notNull())
      .addColumn('due_at', 'text')
      .addColumn('follow_up_at', 'text')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('max_attempts', 'integer', (column) => column.notNull())
      .addColumn('deadline_milliseconds', 'integer', (column) => column.notNull())
      .addColumn('claims', 'integer', (column) => column.notNull())
      .addColumn('owner', 'text')
      .addColumn('last_error', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      // Keys that are null differ from each other on both engines.
      .addUniqueConstraint('jobs_key', ['kind', 'key'])
      .execute()
    // The claim reads a range of it; the state at the end lets the statistics read nothing else.
    await db.schema
      .createIndex('jobs_by_due')
      .on('jobs')
      .columns(['kind', 'priority', 'due_at', 'state'])
      .execute()
    await db.schema
      .createIndex('jobs_dead')
      .on('jobs')
      .columns(['updated_at', 'id'])
      .where(sql<boolean>`state = 'dead'`)
      .execute()
  },
}

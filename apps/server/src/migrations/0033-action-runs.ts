import type { Migration } from '../platform/db/migrate.js'

export const actionRuns: Migration = {
  name: '0033-action-runs',
  up: async (db) => {
    await db.schema
      .createTable('action_runs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('alias', 'text', (column) => column.notNull())
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('input', 'text', (column) => column.notNull())
      .addColumn('input_truncated', 'integer', (column) => column.notNull())
      .addColumn('output', 'text')
      .addColumn('output_truncated', 'integer', (column) => column.notNull())
      .addColumn('cached', 'integer', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('duration_ms', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('action_runs_by_time')
      .on('action_runs')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('action_runs_by_age')
      .on('action_runs')
      .column('created_at')
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Groups of errors of the overview that somebody resolved. */
export const resolvedErrors: Migration = {
  name: '0121-resolved-errors',
  up: async (db) => {
    await db.schema
      .createTable('resolved_errors')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('last_at', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('resolved_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('resolved_errors_primary', ['workspace_id', 'fingerprint'])
      .execute()
    await db.schema
      .createIndex('resolved_errors_by_bot')
      .on('resolved_errors')
      .columns(['bot_id'])
      .execute()
    await db.schema
      .createIndex('resolved_errors_by_time')
      .on('resolved_errors')
      .columns(['resolved_at'])
      .execute()
  },
}

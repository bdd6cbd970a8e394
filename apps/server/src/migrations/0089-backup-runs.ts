import type { Migration } from '../platform/db/migrate.js'

/** Backups that run or ended. While one runs, no process removes contents of files. */
export const backupRuns: Migration = {
  name: '0089-backup-runs',
  up: async (db) => {
    await db.schema
      .createTable('backup_runs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('target', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('started_at', 'text', (column) => column.notNull())
      .addColumn('lease_until', 'text', (column) => column.notNull())
      .addColumn('ended_at', 'text')
      .addColumn('error', 'text')
      .addColumn('stored_bytes', 'integer')
      .execute()
  },
}

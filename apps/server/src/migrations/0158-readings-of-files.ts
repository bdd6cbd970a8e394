import type { Migration } from '../platform/db/migrate.js'

/**
 * Omissions of reading the content of a file. They are unknown for files that were indexed before, until those are
 * indexed again.
 */
export const readingsOfFiles: Migration = {
  name: '0158-readings-of-files',
  async up(tx) {
    await tx.schema.alterTable('files').addColumn('omissions', 'integer').execute()
    await tx.schema
      .createTable('file_readings')
      .addColumn('file_id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('reading', 'text', (column) => column.notNull())
      .execute()
    await tx.schema
      .createIndex('file_readings_by_bot')
      .on('file_readings')
      .column('bot_id')
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

export const objectChanges: Migration = {
  name: '0032-object-changes',
  up: async (db) => {
    await db.schema
      .createTable('object_changes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('object_id', 'text', (column) => column.notNull())
      .addColumn('before', 'text', (column) => column.notNull())
      .addColumn('after', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('object_changes_by_bot')
      .on('object_changes')
      .column('bot_id')
      .execute()
    await db.schema
      .createIndex('object_changes_by_age')
      .on('object_changes')
      .column('created_at')
      .execute()
  },
}

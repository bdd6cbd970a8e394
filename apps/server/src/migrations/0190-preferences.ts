import type { Migration } from '../platform/db/migrate.js'

/** Values that programs keep for a person or a workspace. */
export const preferences: Migration = {
  name: '0190-preferences',
  up: async (db) => {
    await db.schema
      .createTable('preferences')
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('preferences_primary', ['owner_id', 'key'])
      .execute()
  },
}

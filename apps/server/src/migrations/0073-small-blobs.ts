import type { Migration } from '../platform/db/migrate.js'

/** Contents that are too small for files of their own. */
export const smallBlobs: Migration = {
  name: '0073-small-blobs',
  up: async (db) => {
    await db.schema
      .createTable('small_blobs')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('bytes', 'blob', (column) => column.notNull())
      .addColumn('stored_at', 'integer', (column) => column.notNull())
      .execute()
  },
}

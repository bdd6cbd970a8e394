import type { Migration } from '../platform/db/migrate.js'

/** Passages can be made anew, or come from the caller; and files tell how far their indexing is. */
export const indexing: Migration = {
  name: '0017-indexing',
  up: async (db) => {
    await db.schema.alterTable('file_contents').addColumn('passages_blob_key', 'text').execute()
    await db.schema
      .alterTable('file_contents')
      .addColumn('remade', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('files').addColumn('progress', 'text').execute()
  },
}

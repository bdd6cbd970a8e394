import type { Migration } from '../platform/db/migrate.js'

/** Contents that come in parts: who sends them, how much is there, and where it lies. */
export const resumableUploads: Migration = {
  name: '0013-resumable-uploads',
  up: async (db) => {
    await db.schema.alterTable('file_contents').addColumn('writer', 'text').execute()
    await db.schema.alterTable('file_contents').addColumn('received', 'integer').execute()
    await db.schema
      .createTable('content_parts')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('file_id', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('start', 'integer', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('blob_key', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('content_parts_key', ['file_id', 'generation', 'start'])
      .execute()
    // The sweeper asks which blobs are parts.
    await db.schema
      .createIndex('content_parts_by_blob')
      .on('content_parts')
      .column('blob_key')
      .execute()
  },
}

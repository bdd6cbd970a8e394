import type { Migration } from '../platform/db/migrate.js'

export const files: Migration = {
  name: '0006-files',
  up: async (db) => {
    await db.schema
      .createTable('files')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('key_space', 'text', (column) => column.notNull())
      .addColumn('owner_type', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('owner_name', 'text')
      .addColumn('owner_alias', 'text')
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('serving_generation', 'integer')
      .addColumn('passages_generation', 'integer')
      .addColumn('passages_shared', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('failed_reason', 'text')
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('content_type', 'text', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('metadata', 'text', (column) => column.notNull())
      .addColumn('public_content', 'integer', (column) => column.notNull())
      .addColumn('shared', 'integer', (column) => column.notNull())
      .addColumn('indexed', 'integer', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('counted_storage', 'integer', (column) => column.notNull())
      .addColumn('counted_vector', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('files_by_key', ['bot_id', 'key', 'key_space'])
      .execute()
    await db.schema
      .createIndex('files_by_creation')
      .on('files')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('files_by_update')
      .on('files')
      .columns(['bot_id', 'updated_at', 'id'])
      .execute()
    await db.schema
      .createIndex('files_by_expiry')
      .on('files')
      .column('expires_at')
      .where('expires_at', 'is not', null)
      .execute()

    await db.schema
      .createTable('file_contents')
      .addColumn('file_id', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('blob_key', 'text')
      .addColumn('sha256', 'text')
      .addColumn('content_type', 'text', (column) => column.notNull())
      .addColumn('public_content', 'integer', (column) => column.notNull())
      .addColumn('shared', 'integer', (column) => column.notNull())
      .addColumn('immediate', 'integer', (column) => column.notNull())
      .addColumn('indexed', 'integer', (column) => column.notNull())
      .addColumn('indexing', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('file_contents_key', ['file_id', 'generation'])
      .execute()
    // The sweepers ask for the generation of a blob, and for uploads that never came.
    await db.schema
      .createIndex('file_contents_by_blob')
      .on('file_contents')
      .column('blob_key')
      .execute()
    await db.schema
      .createIndex('file_contents_by_status')
      .on('file_contents')
      .columns(['status', 'created_at'])
      .execute()

    await db.schema
      .createTable('file_tags')
      .addColumn('file_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('file_tags_key', ['file_id', 'name'])
      .execute()
    await db.schema
      .createIndex('file_tags_by_value')
      .on('file_tags')
      .columns(['bot_id', 'name', 'value', 'file_id'])
      .execute()

    await db.schema
      .createTable('file_usage')
      .addColumn('workspace_id', 'text', (column) => column.primaryKey())
      .addColumn('storage_bytes', 'integer', (column) => column.notNull())
      .addColumn('vector_bytes', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('discarded_blobs')
      .addColumn('blob_key', 'text', (column) => column.primaryKey())
      .execute()
  },
}

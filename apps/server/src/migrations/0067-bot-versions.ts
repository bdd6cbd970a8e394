import type { Migration } from '../platform/db/migrate.js'

/** Versions of bots, and bundles that are kept for them. */
export const botVersions: Migration = {
  name: '0067-bot-versions',
  up: async (db) => {
    await db.schema
      .createTable('kept_bundles')
      .addColumn('keeper', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('kept_bundles_by_hash')
      .on('kept_bundles')
      .columns(['workspace_id', 'hash'])
      .execute()
    await db.schema
      .createTable('bot_versions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('bundle', 'text', (column) => column.notNull())
      .addColumn('code_size', 'integer', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('bot_versions_by_creation')
      .on('bot_versions')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
  },
}

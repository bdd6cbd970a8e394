import type { Migration } from '../platform/db/migrate.js'

export const knowledgeBases: Migration = {
  name: '0012-knowledge-bases',
  up: async (db) => {
    await db.schema
      .createTable('knowledge_bases')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('knowledge_bases_by_creation')
      .on('knowledge_bases')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
  },
}

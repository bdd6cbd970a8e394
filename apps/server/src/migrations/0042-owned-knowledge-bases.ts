import type { Migration } from '../platform/db/migrate.js'

export const ownedKnowledgeBases: Migration = {
  name: '0042-owned-knowledge-bases',
  up: async (db) => {
    // It is unknown who created the earlier ones: they belong to the bot.
    await db.schema
      .alterTable('knowledge_bases')
      .addColumn('key_space', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

export const ownedKnowledgeBases: Migration = {
  name: '0042-owned-knowledge-bases',
  up: async (db) => {
    // Nobody wrote down who made the earlier ones: they are the bot's.
    await db.schema
      .alterTable('knowledge_bases')
      .addColumn('key_space', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}

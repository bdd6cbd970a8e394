import type { Migration } from '../platform/db/migrate.js'

export const messages: Migration = {
  name: '0005-messages',
  up: async (db) => {
    await db.schema
      .createTable('messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('direction', 'text', (column) => column.notNull())
      .addColumn('tags', 'text')
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text')
      .execute()
    // The only one beside the key, and narrow: what it weighs is paid with every message.
    await db.schema
      .createIndex('messages_by_conversation')
      .on('messages')
      .columns(['conversation_id', 'created_at'])
      .execute()
  },
}

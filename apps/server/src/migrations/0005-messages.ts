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
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    // One index serves the list of a conversation and the removal of all that a bot has: every
    // further one would slow down each message.
    await db.schema
      .createIndex('messages_by_conversation')
      .on('messages')
      .columns(['bot_id', 'conversation_id', 'created_at', 'id'])
      .execute()
  },
}

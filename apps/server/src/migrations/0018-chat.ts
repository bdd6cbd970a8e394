import type { Migration } from '../platform/db/migrate.js'

export const chat: Migration = {
  name: '0018-chat',
  up: async (db) => {
    // Users list what they own.
    await db.schema
      .createIndex('conversations_by_owner')
      .on('conversations')
      .columns(['bot_id', 'owner_user_id', 'created_at', 'id'])
      .execute()

    // Messages that bots are still writing: where their pieces stand in the log of a conversation.
    await db.schema
      .createTable('message_streams')
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('first_sequence', 'integer', (column) => column.notNull())
      .addColumn('last_sequence', 'integer', (column) => column.notNull())
      .addColumn('characters', 'integer', (column) => column.notNull())
      .addColumn('pieces', 'integer', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('message_streams_key', ['conversation_id', 'stream_id'])
      .execute()
    await db.schema
      .createIndex('message_streams_by_expiry')
      .on('message_streams')
      .column('expires_at')
      .execute()
  },
}

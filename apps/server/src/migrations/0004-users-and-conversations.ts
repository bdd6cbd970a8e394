import type { Migration } from '../platform/db/migrate.js'

export const usersAndConversations: Migration = {
  name: '0004-users-and-conversations',
  up: async (db) => {
    await db.schema
      .createTable('users')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('foreign_id', 'text')
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('picture_url', 'text')
      .addColumn('profile', 'text')
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('properties', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      // Rows without a foreign id do not clash: a unique constraint ignores nulls.
      .addUniqueConstraint('users_foreign_id', ['bot_id', 'foreign_id'])
      .execute()
    await db.schema
      .createIndex('users_by_creation')
      .on('users')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()

    await db.schema
      .createTable('conversations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('foreign_id', 'text')
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('properties', 'text', (column) => column.notNull())
      .addColumn('owner_user_id', 'text')
      .addColumn('claimable', 'integer', (column) => column.notNull())
      .addColumn('message_count', 'integer', (column) => column.notNull())
      .addColumn('last_sequence', 'integer', (column) => column.notNull())
      .addColumn('last_message_at', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('conversations_foreign_id', ['bot_id', 'foreign_id'])
      .execute()
    await db.schema
      .createIndex('conversations_by_creation')
      .on('conversations')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('conversations_by_update')
      .on('conversations')
      .columns(['bot_id', 'updated_at', 'id'])
      .execute()

    await db.schema
      .createTable('participants')
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('participants_key', ['conversation_id', 'user_id'])
      .execute()
    await db.schema
      .createIndex('participants_by_user')
      .on('participants')
      .columns(['bot_id', 'user_id', 'conversation_id'])
      .execute()
  },
}

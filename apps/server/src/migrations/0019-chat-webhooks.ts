import type { Migration } from '../platform/db/migrate.js'

export const chatWebhooks: Migration = {
  name: '0019-chat-webhooks',
  up: async (db) => {
    // The configuration is sealed, so the switch for posting signals has a column of its own.
    await db.schema
      .alterTable('installations')
      .addColumn('posts_signals', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createIndex('installations_by_signals')
      .on('installations')
      .columns(['posts_signals', 'bot_id'])
      .execute()

    await db.schema
      .createTable('chat_webhook_cursors')
      .addColumn('conversation_id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('chat_webhook_cursors_by_bot')
      .on('chat_webhook_cursors')
      .column('bot_id')
      .execute()
  },
}

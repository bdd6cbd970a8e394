import type { Migration } from '../platform/db/migrate.js'

/** Tables and columns of web chats: data of users, the start of conversations, feedback, secrets and files of users. */
export const webchat: Migration = {
  name: '0081-webchat',
  up: async (db) => {
    await db.schema.alterTable('users').addColumn('data', 'text').execute()
    await db.schema.alterTable('conversations').addColumn('start_event_id', 'text').execute()
    await db.schema
      .createTable('message_feedback')
      .addColumn('message_id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('comment', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('message_feedback_by_conversation')
      .on('message_feedback')
      .column('conversation_id')
      .execute()
    await db.schema
      .createIndex('message_feedback_by_bot')
      .on('message_feedback')
      .column('bot_id')
      .execute()
    await db.schema
      .createTable('chat_secrets')
      .addColumn('bot_id', 'text', (column) => column.primaryKey())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('chat_files')
      .addColumn('file_id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text')
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('checked_at', 'text', (column) => column.notNull())
      .execute()
    for (const column of ['bot_id', 'user_id', 'conversation_id', 'checked_at']) {
      await db.schema
        .createIndex(`chat_files_by_${column.replace('_id', '').replace('_at', '')}`)
        .on('chat_files')
        .column(column)
        .execute()
    }
  },
}

import type { Migration } from '../platform/db/migrate.js'

export const botLogs: Migration = {
  name: '0026-bot-logs',
  up: async (db) => {
    await db.schema
      .createTable('bot_logs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('level', 'text', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text')
      .addColumn('workflow_id', 'text')
      .addColumn('conversation_id', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('bot_logs_by_time')
      .on('bot_logs')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
    await db.schema.createIndex('bot_logs_by_age').on('bot_logs').column('created_at').execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Conversations that page views opened, until it is decided whether they are kept. */
export const webchatOpenings: Migration = {
  name: '0091-webchat-openings',
  up: async (db) => {
    await db.schema
      .createTable('webchat_openings')
      .addColumn('conversation_id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('opened_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('webchat_openings_by_time')
      .on('webchat_openings')
      .columns(['opened_at'])
      .execute()
    await db.schema
      .createIndex('webchat_openings_by_bot')
      .on('webchat_openings')
      .columns(['bot_id'])
      .execute()
  },
}

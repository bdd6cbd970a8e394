import type { Migration } from '../platform/db/migrate.js'

/** Counts of bots for past days. */
export const botDays: Migration = {
  name: '0069-bot-days',
  up: async (db) => {
    await db.schema
      .createTable('bot_days')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('figures', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('bot_days_key', ['bot_id', 'day'])
      .execute()
  },
}

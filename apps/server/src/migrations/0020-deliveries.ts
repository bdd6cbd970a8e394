import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const deliveries: Migration = {
  name: '0020-deliveries',
  up: async (db) => {
    await db.schema
      .createTable('deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('integration', 'text')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('subject_id', 'text', (column) => column.notNull())
      .addColumn('order_key', 'text')
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at', 'text')
      .addColumn('last_error', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    // What waits to be sent: few rows, however many were sent.
    await db.schema
      .createIndex('deliveries_due')
      .on('deliveries')
      .columns(['next_attempt_at', 'id'])
      .where(sql<boolean>`status = 'pending'`)
      .execute()
    // Whether something of the same order key has to go first.
    await db.schema
      .createIndex('deliveries_in_order')
      .on('deliveries')
      .columns(['order_key', 'position'])
      .where(sql<boolean>`status = 'pending'`)
      .execute()
    await db.schema
      .createIndex('deliveries_by_bot')
      .on('deliveries')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
  },
}

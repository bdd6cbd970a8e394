import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const deliveries: Migration = {
  name: '0020-deliveries',
  up: async (db) => {
    await db.schema
      .createTable('deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('subject_id', 'text', (column) => column.notNull())
      .addColumn('order_key', 'text')
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('owner', 'text')
      .addColumn('next_attempt_at', 'text')
      .addColumn('set_aside', 'integer', (column) => column.notNull())
      .addColumn('last_error', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    // Deliveries that can be sent now or later: the head of each queue, however many wait behind it.
    await db.schema
      .createIndex('deliveries_due')
      .on('deliveries')
      .columns(['next_attempt_at', 'id'])
      .where(sql<boolean>`next_attempt_at is not null`)
      .execute()
    await db.schema
      .createIndex('deliveries_in_line')
      .on('deliveries')
      .columns(['order_key', 'position'])
      .where(sql<boolean>`status = 'pending'`)
      .execute()
    await db.schema
      .createIndex('deliveries_set_aside')
      .on('deliveries')
      .columns(['bot_id', 'integration'])
      .where(sql<boolean>`set_aside = 1`)
      .execute()
    await db.schema
      .createIndex('deliveries_by_bot')
      .on('deliveries')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()

    await db.schema
      .createTable('delivery_lines')
      .addColumn('order_key', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('last_position', 'integer', (column) => column.notNull())
      .addColumn('waiting', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('delivery_lines_by_bot')
      .on('delivery_lines')
      .column('bot_id')
      .execute()

    await db.schema
      .createTable('delivery_attempts')
      .addColumn('delivery_id', 'text', (column) => column.notNull())
      .addColumn('number', 'integer', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('started_at', 'text', (column) => column.notNull())
      .addColumn('duration_ms', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('error', 'text')
      .addColumn('answer', 'text')
      .addPrimaryKeyConstraint('delivery_attempts_key', ['delivery_id', 'number'])
      .execute()
    await db.schema
      .createIndex('delivery_attempts_by_bot')
      .on('delivery_attempts')
      .columns(['bot_id', 'started_at'])
      .execute()

    await db.schema
      .createTable('delivery_receivers')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('failing_since', 'text')
      .addColumn('paused', 'text')
      .addColumn('paused_at', 'text')
      .addColumn('reason', 'text')
      .addColumn('probe_at', 'text')
      .addColumn('releasing', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('delivery_receivers_key', ['bot_id', 'integration'])
      .execute()
    await db.schema
      .createIndex('delivery_receivers_to_probe')
      .on('delivery_receivers')
      .column('probe_at')
      .where(sql<boolean>`probe_at is not null`)
      .execute()
    await db.schema
      .createIndex('delivery_receivers_releasing')
      .on('delivery_receivers')
      .columns(['bot_id', 'integration'])
      .where(sql<boolean>`releasing = 1`)
      .execute()
  },
}

import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const botEvents: Migration = {
  name: '0022-bot-events',
  up: async (db) => {
    await db.schema
      .createTable('bot_events')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('integration', 'text')
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('payload', 'text')
      .addColumn('conversation_id', 'text')
      .addColumn('user_id', 'text')
      .addColumn('message_id', 'text')
      .addColumn('workflow_id', 'text')
      .addColumn('recurring', 'text')
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('failure_reason', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('bot_events_by_creation')
      .on('bot_events')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
    for (const about of ['conversation_id', 'message_id', 'workflow_id']) {
      await db.schema
        .createIndex(`bot_events_by_${about}`)
        .on('bot_events')
        .columns([about, 'created_at', 'id'])
        .where(sql<boolean>`${sql.ref(about)} is not null`)
        .execute()
    }
    // By age alone, for the deletion of expired rows.
    await db.schema.createIndex('bot_events_by_age').on('bot_events').column('created_at').execute()

    await db.schema
      .createTable('recurring_events')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('cron', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('next_at', 'text')
      .addColumn('failed_attempts', 'integer', (column) => column.notNull())
      .addColumn('last_failure_reason', 'text')
      .addPrimaryKeyConstraint('recurring_events_key', ['bot_id', 'name'])
      .execute()
  },
}

import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Indexes for the views of a conversation: its deliveries, those that failed, its changes, and lines of the log. */
export const conversationsForPeople: Migration = {
  name: '0052-conversations-for-people',
  up: async (db) => {
    // Conversations with failures, of a bot or one by one: `order_key` begins with the bot.
    await db.schema
      .createIndex('deliveries_failed')
      .on('deliveries')
      .column('order_key')
      .where(sql<boolean>`status = 'failed'`)
      .execute()
    await db.schema
      .createIndex('deliveries_by_subject')
      .on('deliveries')
      .column('subject_id')
      .execute()
    await db.schema
      .createIndex('bot_logs_by_conversation')
      .on('bot_logs')
      .columns(['bot_id', 'conversation_id', 'created_at', 'id'])
      .where(sql<boolean>`conversation_id is not null`)
      .execute()
    await db.schema
      .createIndex('object_changes_by_object')
      .on('object_changes')
      .columns(['object_id', 'created_at', 'id'])
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Problems of the code of bots, and when they happened. */
export const botIssues: Migration = {
  name: '0068-bot-issues',
  up: async (db) => {
    await db.schema
      .createTable('bot_issues')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('code', 'text', (column) => column.notNull())
      .addColumn('category', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('grouped_data', 'text', (column) => column.notNull())
      .addColumn('events_count', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_seen_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('bot_issues_by_fingerprint')
      .unique()
      .on('bot_issues')
      .columns(['bot_id', 'fingerprint'])
      .execute()
    await db.schema
      .createIndex('bot_issues_by_last_seen')
      .on('bot_issues')
      .columns(['bot_id', 'last_seen_at', 'id'])
      .execute()
    await db.schema
      .createIndex('bot_issues_by_age')
      .on('bot_issues')
      .column('last_seen_at')
      .execute()
    await db.schema
      .createTable('bot_issue_events')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('issue_id', 'text', (column) => column.notNull())
      .addColumn('data', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('bot_issue_events_by_issue')
      .on('bot_issue_events')
      .columns(['issue_id', 'id'])
      .execute()
    await db.schema
      .createIndex('bot_issue_events_by_bot')
      .on('bot_issue_events')
      .column('bot_id')
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

export const eventLog: Migration = {
  name: '0009-event-log',
  up: async (db) => {
    await db.schema
      .createTable('events')
      .addColumn('stream', 'text', (column) => column.notNull())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('subject_id', 'text', (column) => column.notNull())
      .addColumn('data', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('events_key', ['stream', 'sequence'])
      .execute()
    await db.schema.createIndex('events_by_age').on('events').column('created_at').execute()

    await db.schema
      .createTable('event_streams')
      .addColumn('stream', 'text', (column) => column.primaryKey())
      .addColumn('last_sequence', 'integer', (column) => column.notNull())
      .addColumn('trimmed_sequence', 'integer', (column) => column.notNull())
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

export const releasedEvents: Migration = {
  name: '0040-released-events',
  up: async (db) => {
    await db.schema.alterTable('bot_events').addColumn('released_at', 'text').execute()
  },
}

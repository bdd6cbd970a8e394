import type { Migration } from '../platform/db/migrate.js'

/** Whether a session was begun with a personal token. */
export const sessionsByToken: Migration = {
  name: '0213-sessions-by-token',
  up: async (db) => {
    await db.schema
      .alterTable('access_tokens')
      .addColumn('by_token', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Bots whose code always runs are few among many, and looked for often. */
export const alwaysAlive: Migration = {
  name: '0072-always-alive',
  up: async (db) => {
    await db.schema
      .createIndex('bots_always_alive')
      .on('bots')
      .columns(['always_alive', 'id'])
      .where('always_alive', '=', 1)
      .execute()
  },
}

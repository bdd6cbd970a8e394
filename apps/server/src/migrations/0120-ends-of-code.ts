import type { Migration } from '../platform/db/migrate.js'

/** Deliveries that may have ended the code of their receiver are counted, and sent alone. */
export const endsOfCode: Migration = {
  name: '0120-ends-of-code',
  up: async (db) => {
    await db.schema.alterTable('deliveries').addColumn('code_ends', 'integer').execute()
  },
}

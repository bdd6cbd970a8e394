import type { Migration } from '../platform/db/migrate.js'

/** Whether requests about the account of an installation go to another workspace, which connected it first. */
export const accountsElsewhere: Migration = {
  name: '0086-accounts-elsewhere',
  up: async (db) => {
    await db.schema
      .alterTable('installations')
      .addColumn('account_served_elsewhere', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

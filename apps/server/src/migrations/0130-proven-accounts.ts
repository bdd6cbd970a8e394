import type { Migration } from '../platform/db/migrate.js'

/**
 * Whether the integration itself reported the account of an installation. Earlier servers took it from anybody who named the
 * integration in a header, so that those accounts are unproven until they are reported again.
 */
export const provenAccounts: Migration = {
  name: '0130-proven-accounts',
  up: async (db) => {
    await db.schema
      .alterTable('installations')
      .addColumn('account_is_proven', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

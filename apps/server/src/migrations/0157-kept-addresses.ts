import type { Migration } from '../platform/db/migrate.js'

/**
 * Addresses that integrations share are kept for a while for a workspace that has deleted its integration. Those of
 * before count as owned, also where an integration in development has one.
 */
export const keptAddresses: Migration = {
  name: '0157-kept-addresses',
  async up(tx) {
    await tx.schema
      .alterTable('shared_addresses')
      .addColumn('is_lent', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await tx.schema.alterTable('shared_addresses').addColumn('kept_until', 'text').execute()
  },
}

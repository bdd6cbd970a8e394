import type { Migration } from '../platform/db/migrate.js'

/** Second factors of accounts, and sign-ins that wait for one. */
export const secondFactors: Migration = {
  name: '0191-second-factors',
  up: async (db) => {
    await db.schema
      .createTable('account_second_factors')
      .addColumn('account_id', 'text', (column) =>
        column.primaryKey().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('last_step', 'integer', (column) => column.notNull())
      .addColumn('since', 'text')
      .execute()
    await db.schema
      .createTable('account_recovery_codes')
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('hash', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_recovery_codes_key', ['account_id', 'hash'])
      .execute()
    await db.schema
      .createTable('sign_in_tickets')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('sign_in_tickets_by_account')
      .on('sign_in_tickets')
      .columns(['account_id'])
      .execute()
  },
}

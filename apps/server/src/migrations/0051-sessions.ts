import type { Migration } from '../platform/db/migrate.js'

export const sessions: Migration = {
  name: '0051-sessions',
  up: async (db) => {
    await db.schema.alterTable('access_tokens').addColumn('expires_at', 'text').execute()
    await db.schema
      .createTable('sign_in_codes')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
  },
}

import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Identities of accounts at a provider, and sign-ins whose person is there. */
export const singleSignOn: Migration = {
  name: '0211-single-sign-on',
  up: async (db) => {
    await db.schema
      .createTable('account_identities')
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) =>
        column.references('accounts.id').onDelete('set null'),
      )
      .addColumn('email', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('ended_at', 'text')
      .addPrimaryKeyConstraint('account_identities_key', ['issuer', 'subject'])
      .execute()
    await db.schema
      .createIndex('account_identities_by_account')
      .on('account_identities')
      .columns(['account_id', 'issuer'])
      .execute()
    await db.schema
      .createIndex('account_identities_connected')
      .on('account_identities')
      .columns(['account_id', 'issuer'])
      .unique()
      .where(sql<boolean>`ended_at is null`)
      .execute()
    await db.schema
      .createTable('single_sign_on_attempts')
      .addColumn('state', 'text', (column) => column.primaryKey())
      .addColumn('browser', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('single_sign_on_attempts_by_end')
      .on('single_sign_on_attempts')
      .columns(['expires_at'])
      .execute()
  },
}

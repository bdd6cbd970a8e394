import type { Migration } from '../platform/db/migrate.js'

/** Passkeys of accounts, and challenges that wait for a device. */
export const passkeys: Migration = {
  name: '0212-passkeys',
  up: async (db) => {
    await db.schema
      .createTable('passkeys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('credential_id', 'text', (column) => column.notNull().unique())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('counter', 'integer', (column) => column.notNull())
      .addColumn('transports', 'text', (column) => column.notNull())
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('is_syncable', 'integer', (column) => column.notNull())
      .addColumn('is_backed_up', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_used_at', 'text')
      .execute()
    await db.schema
      .createIndex('passkeys_by_account')
      .on('passkeys')
      .columns(['account_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createTable('passkey_challenges')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('browser', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) =>
        column.references('accounts.id').onDelete('cascade'),
      )
      .addColumn('address', 'text')
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('passkey_challenges_by_address')
      .on('passkey_challenges')
      .columns(['address', 'expires_at'])
      .execute()
    await db.schema
      .createIndex('passkey_challenges_by_account')
      .on('passkey_challenges')
      .columns(['account_id'])
      .execute()
    await db.schema
      .createIndex('passkey_challenges_by_end')
      .on('passkey_challenges')
      .columns(['expires_at'])
      .execute()
  },
}

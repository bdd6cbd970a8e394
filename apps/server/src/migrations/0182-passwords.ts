import type { Migration } from '../platform/db/migrate.js'

/** Passwords, and all that signing in with one needs. Accounts of before have none until they set one. */
export const passwords: Migration = {
  name: '0182-passwords',
  up: async (db) => {
    await db.schema
      .createTable('account_passwords')
      .addColumn('account_id', 'text', (column) =>
        column.primaryKey().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('changed_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('account_devices')
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('last_used_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_devices_key', ['account_id', 'hash'])
      .execute()
    await db.schema
      .createTable('sign_in_attempts')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('blocked_until', 'text')
      .addColumn('last_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('sign_in_attempts_by_time')
      .on('sign_in_attempts')
      .columns(['last_at'])
      .execute()
    await db.schema
      .createTable('password_resets')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('password_resets_by_account')
      .on('password_resets')
      .columns(['account_id'])
      .execute()
    await db.schema.alterTable('access_tokens').addColumn('device', 'text').execute()
    await db.schema.alterTable('access_tokens').addColumn('address', 'text').execute()
  },
}

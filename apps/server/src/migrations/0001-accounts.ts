import type { Migration } from '../platform/db/migrate.js'

export const accounts: Migration = {
  name: '0001-accounts',
  up: async (db) => {
    await db.schema
      .createTable('accounts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('email', 'text', (column) => column.notNull().unique())
      .addColumn('email_verified', 'integer', (column) => column.notNull())
      .addColumn('display_name', 'text')
      .addColumn('profile_picture', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()

    await db.schema
      .createTable('access_tokens')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('account_id', 'text', (column) =>
        column.references('accounts.id').onDelete('cascade'),
      )
      .addColumn('workspace_id', 'text')
      .addColumn('bot_id', 'text')
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_used_at', 'text')
      .execute()
    await db.schema
      .createIndex('access_tokens_by_account')
      .on('access_tokens')
      .columns(['account_id', 'created_at'])
      .execute()
    await db.schema
      .createIndex('access_tokens_by_workspace')
      .on('access_tokens')
      .columns(['workspace_id', 'bot_id', 'created_at'])
      .execute()
    // The rows of a deleted bot are removed when its workspace is no longer known.
    await db.schema
      .createIndex('access_tokens_by_bot')
      .on('access_tokens')
      .columns(['bot_id'])
      .execute()
  },
}

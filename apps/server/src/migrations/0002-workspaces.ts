import type { Migration } from '../platform/db/migrate.js'

export const workspaces: Migration = {
  name: '0002-workspaces',
  up: async (db) => {
    await db.schema
      .createTable('workspaces')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('handle', 'text', (column) => column.unique())
      .addColumn('about', 'text')
      .addColumn('profile_picture', 'text')
      .addColumn('contact_email', 'text')
      .addColumn('website', 'text')
      .addColumn('social_accounts', 'text')
      .addColumn('is_public', 'integer', (column) => column.notNull())
      .addColumn('spending_limit', 'real', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('workspaces_by_owner')
      .on('workspaces')
      .columns(['owner_id'])
      .execute()

    await db.schema
      .createTable('workspace_members')
      .addColumn('workspace_id', 'text', (column) =>
        column.notNull().references('workspaces.id').onDelete('cascade'),
      )
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('accounts.id').onDelete('cascade'),
      )
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('workspace_members_key', ['workspace_id', 'account_id'])
      .execute()
    await db.schema
      .createIndex('workspace_members_by_account')
      .on('workspace_members')
      .columns(['account_id', 'workspace_id'])
      .execute()
  },
}

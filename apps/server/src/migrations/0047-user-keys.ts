import type { Migration } from '../platform/db/migrate.js'

export const userKeys: Migration = {
  name: '0047-user-keys',
  up: async (db) => {
    await db.schema.alterTable('users').addColumn('keys_revoked_at', 'text').execute()
    await db.schema
      .alterTable('users')
      .addColumn('banned', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()

    // Ids of deleted users: keys that name them must not restore them.
    await db.schema
      .createTable('retired_user_ids')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('keys_revoked_at', 'text', (column) => column.notNull())
      .addColumn('banned', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('retired_user_ids_key', ['bot_id', 'id'])
      .execute()
    await db.schema
      .createIndex('retired_user_ids_by_user')
      .on('retired_user_ids')
      .columns(['bot_id', 'user_id'])
      .execute()
  },
}

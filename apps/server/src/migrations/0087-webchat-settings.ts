import type { Migration } from '../platform/db/migrate.js'

/** The settings of web chats that were set, one row each, so that two changes at once do not lose one. */
export const webchatSettings: Migration = {
  name: '0087-webchat-settings',
  up: async (db) => {
    await db.schema
      .createTable('webchat_settings')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('webchat_settings_key', ['bot_id', 'name'])
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Mails that wait to be sent, and the addresses to which reset links went. Links of before were passed on by the operator. */
export const mail: Migration = {
  name: '0210-mail',
  up: async (db) => {
    await db.schema
      .createTable('outgoing_mails')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('outgoing_mails_by_end')
      .on('outgoing_mails')
      .columns(['expires_at'])
      .execute()
    await db.schema.alterTable('password_resets').addColumn('mailed_to', 'text').execute()
  },
}

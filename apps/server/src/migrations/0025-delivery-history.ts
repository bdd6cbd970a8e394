import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const deliveryHistory: Migration = {
  name: '0025-delivery-history',
  up: async (db) => {
    await db.schema
      .alterTable('deliveries')
      .addColumn('spent', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    // Waiting deliveries of a bot, by their subject.
    await db.schema
      .createIndex('deliveries_by_subject')
      .on('deliveries')
      .column('subject_id')
      .where(sql<boolean>`status = 'pending'`)
      .execute()
    // By age alone, for the deletion of expired rows.
    await db.schema.createIndex('deliveries_by_age').on('deliveries').column('created_at').execute()

    await db.schema.alterTable('bots').addColumn('previous_signing_secret', 'text').execute()
    await db.schema.alterTable('bots').addColumn('previous_secret_until', 'text').execute()
  },
}

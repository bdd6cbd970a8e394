import type { Migration } from '../platform/db/migrate.js'

export const observations: Migration = {
  name: '0024-observations',
  up: async (db) => {
    await db.schema
      .createTable('analytics')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('count', 'real', (column) => column.notNull())
      .addPrimaryKeyConstraint('analytics_key', ['bot_id', 'day', 'name'])
      .execute()

    await db.schema
      .createTable('observations')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('data', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('observations_key', ['bot_id', 'id'])
      .execute()
    await db.schema
      .createIndex('observations_by_age')
      .on('observations')
      .column('created_at')
      .execute()
  },
}

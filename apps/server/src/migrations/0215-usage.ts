import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** What bots used by day, the quotas that people set, and the files of each bot. */
export const usage: Migration = {
  name: '0215-usage',
  up: async (db) => {
    await db.schema
      .createTable('usage_days')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('shard', 'integer', (column) => column.notNull())
      .addColumn('value', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_days_key', ['workspace_id', 'bot_id', 'kind', 'day', 'shard'])
      .execute()
    await db.schema
      .createIndex('usage_days_by_day')
      .on('usage_days')
      .columns(['workspace_id', 'day', 'bot_id', 'kind'])
      .execute()
    await sql`create index usage_days_split on usage_days (day) where shard > 0`.execute(db)
    await db.schema.createIndex('usage_days_by_age').on('usage_days').column('day').execute()
    await db.schema
      .createTable('usage_months')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('month', 'text', (column) => column.notNull())
      .addColumn('calls', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_months_key', ['workspace_id', 'bot_id', 'month'])
      .execute()
    await db.schema
      .createTable('usage_quotas')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('value', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_quotas_key', ['workspace_id', 'bot_id', 'type'])
      .execute()
    for (const table of ['usage_months', 'usage_quotas']) {
      await db.schema.createIndex(`${table}_by_bot`).on(table).column('bot_id').execute()
    }
    await db.schema
      .createTable('bot_file_usage')
      .addColumn('bot_id', 'text', (column) => column.primaryKey())
      .addColumn('storage_bytes', 'integer', (column) => column.notNull())
      .addColumn('vector_bytes', 'integer', (column) => column.notNull())
      .addColumn('indexed_files', 'integer', (column) => column.notNull())
      .execute()
    await sql`
      insert into bot_file_usage (bot_id, storage_bytes, vector_bytes, indexed_files)
      select bot_id, sum(counted_storage), sum(counted_vector), sum(case when counted_vector > 0 then 1 else 0 end)
      from files group by bot_id`.execute(db)
  },
}

import type { Migration } from '../platform/db/migrate.js'

export const bots: Migration = {
  name: '0003-bots',
  up: async (db) => {
    await db.schema
      .createTable('bots')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('dev', 'integer', (column) => column.notNull())
      .addColumn('url', 'text')
      .addColumn('code', 'text')
      .addColumn('authentication', 'text')
      .addColumn('blocked', 'integer', (column) => column.notNull())
      .addColumn('always_alive', 'integer', (column) => column.notNull())
      .addColumn('max_execution_time', 'integer')
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('secrets', 'text', (column) => column.notNull())
      .addColumn('signing_secret', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text')
      .addColumn('deployed_at', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    // Production and development bots are listed apart, by either time.
    await db.schema
      .createIndex('bots_by_creation')
      .on('bots')
      .columns(['workspace_id', 'dev', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('bots_by_update')
      .on('bots')
      .columns(['workspace_id', 'dev', 'updated_at', 'id'])
      .execute()

    await db.schema
      .createTable('installations')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('alias', 'text', (column) => column.notNull())
      .addColumn('integration_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('webhook_id', 'text', (column) => column.notNull().unique())
      .addColumn('enabled', 'integer', (column) => column.notNull())
      .addColumn('configuration_type', 'text')
      .addColumn('configuration', 'text', (column) => column.notNull())
      .addColumn('disabled_channels', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('status_reason', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('installations_key', ['bot_id', 'alias'])
      .execute()
  },
}

import type { Migration } from '../platform/db/migrate.js'

/** Plugins, their code beside them, and their installations in bots. */
export const plugins: Migration = {
  name: '0060-plugins',
  up: async (db) => {
    await db.schema
      .createTable('plugins')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('icon', 'text', (column) => column.notNull())
      .addColumn('readme', 'text', (column) => column.notNull())
      .addColumn('visibility', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('installs', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('plugins_by_name')
      .unique()
      .on('plugins')
      .columns(['workspace_id', 'name', 'version'])
      .execute()
    await db.schema
      .createIndex('plugins_by_creation')
      .on('plugins')
      .columns(['workspace_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('plugins_in_hub')
      .on('plugins')
      .columns(['visibility', 'name'])
      .execute()

    await db.schema
      .createTable('plugin_codes')
      .addColumn('plugin_id', 'text', (column) => column.notNull())
      .addColumn('platform', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('code', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('plugin_codes_key', ['plugin_id', 'platform'])
      .execute()
    await db.schema
      .createIndex('plugin_codes_by_workspace')
      .on('plugin_codes')
      .column('workspace_id')
      .execute()

    await db.schema
      .createTable('plugin_installations')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('alias', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('plugin_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('enabled', 'integer', (column) => column.notNull())
      .addColumn('configuration', 'text', (column) => column.notNull())
      .addColumn('interfaces', 'text', (column) => column.notNull())
      .addColumn('integrations', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('plugin_installations_key', ['bot_id', 'alias'])
      .execute()
    await db.schema
      .createIndex('plugin_installations_by_plugin')
      .on('plugin_installations')
      .columns(['plugin_id', 'workspace_id'])
      .execute()
  },
}

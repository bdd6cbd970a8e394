import type { Migration } from '../platform/db/migrate.js'

/** Interfaces, and which integrations and plugins use them. */
export const interfaces: Migration = {
  name: '0059-interfaces',
  up: async (db) => {
    await db.schema
      .createTable('interfaces')
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
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('interfaces_by_name')
      .unique()
      .on('interfaces')
      .columns(['workspace_id', 'name', 'version'])
      .execute()
    await db.schema
      .createIndex('interfaces_by_creation')
      .on('interfaces')
      .columns(['workspace_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('interfaces_in_hub')
      .on('interfaces')
      .columns(['visibility', 'name'])
      .execute()

    await db.schema
      .createTable('interface_uses')
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('alias', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('interface_id', 'text', (column) => column.notNull())
      .addColumn('interface_name', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('interface_uses_key', ['user_id', 'alias'])
      .execute()
    await db.schema
      .createIndex('interface_uses_by_interface')
      .on('interface_uses')
      .columns(['interface_id', 'workspace_id'])
      .execute()
    await db.schema
      .createIndex('interface_uses_by_workspace')
      .on('interface_uses')
      .column('workspace_id')
      .execute()
  },
}

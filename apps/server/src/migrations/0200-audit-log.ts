import type { Migration } from '../platform/db/migrate.js'

/** The audit logs of workspaces. They outlive their workspace, and so refer to nothing. */
export const auditLog: Migration = {
  name: '0200-audit-log',
  up: async (db) => {
    await db.schema
      .createTable('audit_records')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('recorded_at', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text')
      .addColumn('authority', 'text', (column) => column.notNull())
      .addColumn('token_id', 'text')
      .addColumn('token_note', 'text')
      .addColumn('address', 'text')
      .addColumn('resource_id', 'text')
      .addColumn('resource_name', 'text')
      .addColumn('changes', 'text')
      .addColumn('hash', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_records_key', ['workspace_id', 'sequence'])
      .execute()
    await db.schema
      .createIndex('audit_records_by_time')
      .on('audit_records')
      .columns(['recorded_at'])
      .execute()
    await db.schema
      .createTable('audit_heads')
      .addColumn('workspace_id', 'text', (column) => column.primaryKey())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('recorded_at', 'text', (column) => column.notNull())
      .execute()
  },
}

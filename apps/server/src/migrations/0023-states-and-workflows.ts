import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const statesAndWorkflows: Migration = {
  name: '0023-states-and-workflows',
  up: async (db) => {
    await db.schema
      .createTable('states')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('integration', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('expiry', 'integer')
      .addColumn('expires_at', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('states_key', ['bot_id', 'type', 'owner_id', 'integration', 'name'])
      .execute()

    await db.schema
      .createTable('workflows')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('input', 'text', (column) => column.notNull())
      .addColumn('output', 'text', (column) => column.notNull())
      .addColumn('parent_workflow_id', 'text')
      .addColumn('conversation_id', 'text')
      .addColumn('user_id', 'text')
      .addColumn('event_id', 'text')
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('failure_reason', 'text')
      .addColumn('timeout_at', 'text', (column) => column.notNull())
      .addColumn('completed_at', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('workflows_by_creation')
      .on('workflows')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()
    for (const about of ['conversation_id', 'parent_workflow_id']) {
      await db.schema
        .createIndex(`workflows_by_${about}`)
        .on('workflows')
        .columns([about, 'created_at', 'id'])
        .where(sql<boolean>`${sql.ref(about)} is not null`)
        .execute()
    }
  },
}

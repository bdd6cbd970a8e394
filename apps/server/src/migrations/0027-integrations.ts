import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const integrations: Migration = {
  name: '0027-integrations',
  up: async (db) => {
    await db.schema
      .createTable('integrations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('dev', 'integer', (column) => column.notNull())
      .addColumn('url', 'text')
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('icon', 'text', (column) => column.notNull())
      .addColumn('readme', 'text', (column) => column.notNull())
      .addColumn('visibility', 'text', (column) => column.notNull())
      .addColumn('code', 'text')
      .addColumn('max_execution_time', 'integer')
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('secrets', 'text', (column) => column.notNull())
      .addColumn('signing_secret', 'text', (column) => column.notNull())
      .addColumn('former_secret', 'text')
      .addColumn('former_secret_until', 'text')
      .addColumn('installs', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute()
    // Development tools make many of one name and version, each on the machine of its developer.
    await db.schema
      .createIndex('integrations_by_name')
      .unique()
      .on('integrations')
      .columns(['workspace_id', 'name', 'version'])
      .where(sql<boolean>`dev = 0`)
      .execute()
    await db.schema
      .createIndex('integrations_by_creation')
      .on('integrations')
      .columns(['workspace_id', 'dev', 'created_at', 'id'])
      .execute()

    await db.schema.alterTable('installations').addColumn('identifier', 'text').execute()
    await db.schema.alterTable('installations').addColumn('register_every', 'text').execute()
    await db.schema
      .createIndex('installations_by_integration')
      .on('installations')
      .columns(['integration_id', 'bot_id'])
      .execute()

    await db.schema.alterTable('access_tokens').addColumn('integration_id', 'text').execute()
    await db.schema
      .createIndex('access_tokens_by_integration')
      .on('access_tokens')
      .column('integration_id')
      .execute()

    await db.schema
      .createTable('integration_logs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('integration_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('level', 'text', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text')
      .addColumn('conversation_id', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('integration_logs_by_time')
      .on('integration_logs')
      .columns(['integration_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('integration_logs_by_age')
      .on('integration_logs')
      .column('created_at')
      .execute()
  },
}

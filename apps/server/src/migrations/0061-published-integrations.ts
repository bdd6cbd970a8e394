import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** The integration `chat`, as this migration finds it. */
const chat = { id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11', version: '1.0.0' }

/**
 * Installations of integrations of other workspaces, which need the workspace of their bot; and the built-in chat
 * in the version that today's tools look for.
 */
export const publishedIntegrations: Migration = {
  name: '0061-published-integrations',
  up: async (db) => {
    await db.schema
      .alterTable('installations')
      .addColumn('workspace_id', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    await sql`
      update installations set workspace_id = coalesce(
        (select bots.workspace_id from bots where bots.id = installations.bot_id), '')
    `.execute(db)
    await db.schema
      .createIndex('installations_by_integration_and_workspace')
      .on('installations')
      .columns(['integration_id', 'workspace_id'])
      .execute()
    await db.schema
      .createIndex('integrations_in_hub')
      .on('integrations')
      .columns(['visibility', 'name'])
      .execute()
    await sql`
      update installations set version = ${chat.version} where integration_id = ${chat.id}
    `.execute(db)
  },
}

import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const currentWorkflows: Migration = {
  name: '0041-current-workflows',
  up: async (db) => {
    await db.schema.alterTable('conversations').addColumn('current_workflow_id', 'text').execute()
    // Workflows run for days: those that are on their way are shown too.
    const running = sql`workflows.bot_id = conversations.bot_id
      and workflows.conversation_id = conversations.id
      and workflows.status in ('pending', 'in_progress', 'listening', 'paused')`
    await sql`
      update conversations set current_workflow_id = (
        select workflows.id from workflows where ${running}
        order by workflows.created_at desc, workflows.id desc limit 1
      )
      where conversations.id in (
        select conversation_id from workflows where conversation_id is not null
      )
    `.execute(db)
  },
}

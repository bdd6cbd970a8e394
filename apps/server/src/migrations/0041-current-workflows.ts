import type { Migration } from '../platform/db/migrate.js'

export const currentWorkflows: Migration = {
  name: '0041-current-workflows',
  up: async (db) => {
    await db.schema.alterTable('conversations').addColumn('current_workflow_id', 'text').execute()
  },
}

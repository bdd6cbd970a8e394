import type { Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Sets of questions whose right answers are known, runs of them, and the documents at the time of each run. */
export const evaluations: Migration = {
  name: '0057-evaluations',
  up: async (db) => {
    await addSets(db)
    await addRuns(db)
    await db.schema
      .createTable('evaluation_documents')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('file_id', 'text', (column) => column.notNull())
      .addColumn('file_key', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('sha256', 'text', (column) => column.notNull())
      .addColumn('since', 'text', (column) => column.notNull())
      .addColumn('until', 'text')
      .addPrimaryKeyConstraint('evaluation_documents_key', ['bot_id', 'file_id', 'since'])
      .execute()
  },
}

async function addSets(db: Transaction<unknown>): Promise<void> {
  await db.schema
    .createTable('evaluation_sets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('bot_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('cases', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('evaluation_sets_name', ['bot_id', 'name'])
    .execute()
  await db.schema
    .createIndex('evaluation_sets_by_creation')
    .on('evaluation_sets')
    .columns(['bot_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createTable('evaluation_cases')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('bot_id', 'text', (column) => column.notNull())
    .addColumn('set_id', 'text', (column) => column.notNull())
    .addColumn('key', 'text')
    .addColumn('question', 'text', (column) => column.notNull())
    .addColumn('right_targets', 'text', (column) => column.notNull())
    .addColumn('wrong_targets', 'text', (column) => column.notNull())
    .addColumn('note', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('evaluation_cases_key', ['set_id', 'key'])
    .execute()
  // Ids are in the order of creation.
  await db.schema
    .createIndex('evaluation_cases_by_set')
    .on('evaluation_cases')
    .columns(['set_id', 'id'])
    .execute()
}

async function addRuns(db: Transaction<unknown>): Promise<void> {
  await db.schema
    .createTable('evaluation_runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('bot_id', 'text', (column) => column.notNull())
    .addColumn('set_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('note', 'text', (column) => column.notNull())
    .addColumn('parameters', 'text', (column) => column.notNull())
    .addColumn('total', 'integer', (column) => column.notNull())
    .addColumn('done', 'integer', (column) => column.notNull())
    .addColumn('degraded', 'text', (column) => column.notNull())
    .addColumn('summary', 'text')
    .addColumn('failed_reason', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('completed_at', 'text')
    .execute()
  await db.schema
    .createIndex('evaluation_runs_by_set')
    .on('evaluation_runs')
    .columns(['set_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('evaluation_runs_by_state')
    .on('evaluation_runs')
    .columns(['bot_id', 'state', 'id'])
    .execute()
  await db.schema
    .createTable('evaluation_results')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('bot_id', 'text', (column) => column.notNull())
    .addColumn('question', 'text', (column) => column.notNull())
    .addColumn('answerable', 'integer', (column) => column.notNull())
    .addColumn('ndcg', 'real', (column) => column.notNull())
    .addColumn('recall', 'real', (column) => column.notNull())
    .addColumn('mrr', 'real', (column) => column.notNull())
    .addColumn('rank', 'integer')
    .addColumn('score', 'real', (column) => column.notNull())
    .addColumn('wrong', 'integer', (column) => column.notNull())
    .addColumn('gone', 'integer', (column) => column.notNull())
    .addColumn('milliseconds', 'real', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('evaluation_results_key', ['run_id', 'id'])
    .execute()
  await db.schema
    .createIndex('evaluation_results_by_measure')
    .on('evaluation_results')
    .columns(['run_id', 'ndcg', 'id'])
    .execute()
}

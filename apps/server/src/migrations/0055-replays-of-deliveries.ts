import type { Migration } from '../platform/db/migrate.js'

/** Bodies that attempts sent and that cannot be built again, replays of many deliveries, and runs of recurring jobs. */
export const replaysOfDeliveries: Migration = {
  name: '0055-replays-of-deliveries',
  up: async (db) => {
    for (const column of ['url', 'signature', 'response_headers']) {
      await db.schema.alterTable('delivery_attempts').addColumn(column, 'text').execute()
    }

    await db.schema
      .createTable('delivery_replays')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('filter', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('total', 'integer', (column) => column.notNull())
      .addColumn('total_is_exact', 'integer', (column) => column.notNull())
      .addColumn('replayed', 'integer', (column) => column.notNull())
      .addColumn('skipped', 'integer', (column) => column.notNull())
      .addColumn('delivered', 'integer', (column) => column.notNull())
      .addColumn('failed', 'integer', (column) => column.notNull())
      .addColumn('canceled', 'integer', (column) => column.notNull())
      .addColumn('position', 'text')
      .addColumn('is_at_end', 'integer', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addColumn('ended_at', 'text')
      .execute()
    await db.schema
      .createIndex('delivery_replays_by_creation')
      .on('delivery_replays')
      .columns(['workspace_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('delivery_replays_by_bot')
      .on('delivery_replays')
      .column('bot_id')
      .execute()

    // Only what waits for its result, a few hundred rows for each replay.
    await db.schema
      .createTable('replayed_deliveries')
      .addColumn('replay_id', 'text', (column) => column.notNull())
      .addColumn('delivery_id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('replayed_deliveries_key', ['replay_id', 'delivery_id'])
      .execute()
    await db.schema
      .createIndex('replayed_deliveries_by_bot')
      .on('replayed_deliveries')
      .column('bot_id')
      .execute()

    await db.schema
      .createTable('job_runs')
      .addColumn('kind', 'text', (column) => column.primaryKey())
      .addColumn('ended_at', 'text', (column) => column.notNull())
      .addColumn('error', 'text')
      .execute()
  },
}

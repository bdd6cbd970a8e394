import type { Migration } from '../platform/db/migrate.js'

/** Development tunnels, and the calls that wait for one of them. */
export const tunnels: Migration = {
  name: '0063-tunnels',
  up: async (db) => {
    await db.schema
      .createTable('tunnels')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('key_hash', 'text')
      .addColumn('workspace_id', 'text')
      .addColumn('connection', 'text')
      .addColumn('lease_until', 'text')
      .addColumn('contender', 'text')
      .addColumn('connected_at', 'text', (column) => column.notNull())
      .addColumn('disconnected_at', 'text')
      .execute()
    await db.schema
      .createIndex('tunnels_by_workspace')
      .on('tunnels')
      .column('workspace_id')
      .execute()
    await db.schema
      .createIndex('tunnels_by_disconnection')
      .on('tunnels')
      .column('disconnected_at')
      .execute()

    await db.schema
      .createTable('tunnel_calls')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('tunnel_id', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('connection', 'text')
      .addColumn('repeatable', 'integer', (column) => column.notNull())
      .addColumn('request', 'text', (column) => column.notNull())
      .addColumn('result', 'text')
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('tunnel_calls_by_tunnel')
      .on('tunnel_calls')
      .columns(['tunnel_id', 'state'])
      .execute()
    await db.schema
      .createIndex('tunnel_calls_by_expiry')
      .on('tunnel_calls')
      .column('expires_at')
      .execute()
  },
}

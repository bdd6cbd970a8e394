import type { Migration } from '../platform/db/migrate.js'

export const idempotency: Migration = {
  name: '0010-idempotency',
  up: async (tx) => {
    await tx.schema
      .createTable('idempotency_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('answer', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute()
    await tx.schema
      .createIndex('idempotency_keys_by_expiry')
      .on('idempotency_keys')
      .column('expires_at')
      .execute()
  },
}

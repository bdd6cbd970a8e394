import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** End of an attempt at a delivery. Its line in the log stands behind the lines that the code wrote during it. */
export const endsOfAttempts: Migration = {
  name: '0085-ends-of-attempts',
  up: async (db) => {
    const table = 'delivery_attempts'
    await db.schema
      .alterTable(table)
      .addColumn('ended_at', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    // The lines of earlier attempts stay where they are.
    await sql`update ${sql.table(table)} set ended_at = started_at`.execute(db)
    for (const name of ['delivery_attempts_by_bot', 'delivery_attempts_failed']) {
      await db.schema.dropIndex(name).execute()
    }
    await db.schema
      .createIndex('delivery_attempts_by_bot')
      .on(table)
      .columns(['bot_id', 'ended_at'])
      .execute()
    await db.schema
      .createIndex('delivery_attempts_failed')
      .on(table)
      .columns(['bot_id', 'ended_at'])
      .where(sql<boolean>`error is not null`)
      .execute()
  },
}

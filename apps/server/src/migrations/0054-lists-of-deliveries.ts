import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/**
 * Deliveries to one receiver with one status, and finished ones of one queue, by their age. Each list is merged
 * from such ranges. In two parts, because an update on PostgreSQL writes every index whose condition holds: a
 * delivery is in one of them at a time, as it was in `deliveries_by_bot` before.
 *
 * Time and id are one text. If they were columns, PostgreSQL would take the index of the age of all deliveries for
 * cheaper, and read them all where few match.
 */
export const listsOfDeliveries: Migration = {
  name: '0054-lists-of-deliveries',
  up: async (db) => {
    const position = sql`(created_at || '/' || id)`
    await sql`
      create index deliveries_pending on deliveries (bot_id, integration, ${position})
      where status = 'pending'`.execute(db)
    await sql`
      create index deliveries_finished on deliveries (bot_id, integration, status, ${position})
      where status <> 'pending'`.execute(db)
    await sql`
      create index deliveries_of_queue on deliveries (order_key, ${position})
      where status <> 'pending'`.execute(db)
    await db.schema.dropIndex('deliveries_by_bot').execute()
  },
}

import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const deliveriesByReceiver: Migration = {
  name: '0034-deliveries-by-receiver',
  up: async (db) => {
    // Deliveries that can be sent to one receiver, however many wait for others.
    await db.schema
      .createIndex('deliveries_due_of')
      .on('deliveries')
      .columns(['bot_id', 'integration', 'next_attempt_at', 'id'])
      .where(sql<boolean>`next_attempt_at is not null`)
      .execute()
    // Nothing asks by it any more.
    await db.schema.dropIndex('deliveries_by_subject').execute()
  },
}

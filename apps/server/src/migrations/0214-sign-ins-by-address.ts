import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Sign-ins whose person is at the provider, by the network address from which they began. */
export const signInsByAddress: Migration = {
  name: '0214-sign-ins-by-address',
  up: async (db) => {
    await db.schema.alterTable('single_sign_on_attempts').addColumn('address', 'text').execute()
    await db.schema
      .createIndex('single_sign_on_attempts_by_address')
      .on('single_sign_on_attempts')
      .columns(['address', 'expires_at'])
      .execute()
    // The counts that it replaces, whose pauses did not end before a day without sign-ins.
    await sql`delete from sign_in_attempts where key like 'address:sso:%'`.execute(db)
  },
}

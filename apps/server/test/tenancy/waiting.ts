import { sql } from 'kysely'
import type { Tx } from '../../src/platform/db/schema.js'

/**
 * For a server under test whose requests queue for a lock until all are there: by default they queue for five seconds, and
 * then anew behind the others, which a busy machine needs to let them come. Less than a statement may take.
 */
export const patientWithLocks = { busyTimeout: 25_000 }

/** The number of transactions of this database that wait for a lock; other tests share the server of the database. */
export async function countWaiting(tx: Tx): Promise<number> {
  const waiting = sql<{ count: number }>`select count(distinct waiting.pid)::int as count
    from pg_locks as waiting join pg_locks as own on own.pid = waiting.pid
    join pg_database on pg_database.oid = own.database and datname = current_database()
    where not waiting.granted`
  return (await waiting.execute(tx)).rows[0]?.count ?? 0
}

import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.js'

/**
 * Makes the table of vectors where PostgreSQL has pgvector. Not a migration, because the extension can
 * come at any time; every start tries, and what is there already stays.
 */
export async function openPostgresVectors(database: Pick<Database, 'db' | 'run'>): Promise<void> {
  const { rows } = await sql`
    select 1 where to_regclass('passage_vectors') is not null
  `.execute(database.db)
  if (rows.length > 0) return
  await database.run(async (tx) => {
    // Two processes that start at once would make it twice.
    await sql`select pg_advisory_xact_lock(hashtext('botstead.passage_vectors'))`.execute(tx)
    await sql`create extension if not exists vector`.execute(tx)
    await sql`
      create table if not exists passage_vectors (
        space bigint not null,
        dimensions integer not null,
        number bigint not null references passages (number) on delete cascade,
        vector halfvec not null,
        primary key (number, space)
      )
    `.execute(tx)
    await sql`
      create index if not exists passage_vectors_by_space on passage_vectors (space)
    `.execute(tx)
  })
}

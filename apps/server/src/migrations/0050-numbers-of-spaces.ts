import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/**
 * SQLite gives the number of the newest row again after that row was deleted. Models and vectors in memory belong
 * to the number of a space, so a space must not have the number of an earlier one: the highest is kept here.
 */
export const numbersOfSpaces: Migration = {
  name: '0050-numbers-of-spaces',
  up: async (db, dialect) => {
    if (dialect.name !== 'sqlite') return
    await sql`create table last_space (number integer not null)`.execute(db)
    await sql`
      insert into last_space (number) select coalesce(max(number), 0) from semantic_spaces
    `.execute(db)
  },
}

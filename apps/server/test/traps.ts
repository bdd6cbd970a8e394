import { sql } from 'kysely'
import type { Database } from '../src/platform/db/open.js'

/** A statement that never ends, to kill a process in the middle of it; one at a time. */
export interface Trap {
  /** Hangs every transaction that inserts a row with a value in a column. */
  hangOnInsert(table: string, column: string, value: number): Promise<void>
  /** Hangs every transaction that updates a column. */
  hangOnUpdate(table: string, column: string): Promise<void>
  /** Removes it, once the hanging processes are dead. */
  disarm(): Promise<void>
}

/** So many rows that counting them takes forever. */
const endless = Array.from({ length: 12 }, (_, at) => `sqlite_schema as s${at}`).join(', ')

/** A trap in the tables of a database that another process uses. */
export function createTrap({ db, run, dialect }: Database): Trap {
  const isSqlite = dialect.name === 'sqlite'
  let armed: string | undefined
  const execute = (statement: string) => run((tx) => sql.raw(statement).execute(tx))

  async function arm(table: string, event: string, condition = '1 = 1'): Promise<void> {
    const begin = `create trigger trap before ${event} on ${table} for each row when (${condition})`
    armed = table
    if (isSqlite) {
      await execute(`${begin} begin select count(*) from ${endless}; end`)
      return
    }
    const body = "'begin perform pg_sleep(600); return new; end'"
    await execute(`create function trap() returns trigger language plpgsql as ${body}`)
    await execute(`${begin} execute function trap()`)
  }

  return {
    hangOnInsert: (table, column, value) => arm(table, 'insert', `new.${column} = ${value}`),
    hangOnUpdate: (table, column) => arm(table, `update of ${column}`),
    async disarm() {
      if (armed === undefined) return
      if (!isSqlite) {
        // PostgreSQL would notice only after the sleep that the other process is dead.
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event = 'PgSleep'`.execute(db)
      }
      await execute(`drop trigger trap${isSqlite ? '' : ` on ${armed}`}`)
      if (!isSqlite) await execute('drop function trap()')
      armed = undefined
    },
  }
}

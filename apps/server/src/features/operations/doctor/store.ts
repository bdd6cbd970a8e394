import { sql } from 'kysely'
import type { Db } from '../../../platform/db/schema.js'

/** Properties that a PostgreSQL server reports about itself. */
export interface PostgresState {
  /** Milliseconds since the Unix epoch. */
  now: number
  /** Whether it is a copy of another server, which cannot be written to. */
  isStandby: boolean
  connections: number
  maxConnections: number
}

export async function readPostgresState(db: Db): Promise<PostgresState> {
  const { rows } = await sql<{ now: number; standby: boolean; connections: number; most: number }>`
    select extract(epoch from clock_timestamp()) * 1000 as now, pg_is_in_recovery() as standby,
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
      current_setting('max_connections')::int as most`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('PostgreSQL returned no row.')
  return {
    now: Number(row.now),
    isStandby: row.standby,
    connections: Number(row.connections),
    maxConnections: Number(row.most),
  }
}

/** Time of the last migration, in milliseconds since the Unix epoch; undefined if none was applied. */
export async function lastMigrationTime(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ at: string | null }>`
    select max(applied_at) as at from migrations`.execute(db)
  const at = rows[0]?.at
  return at ? Date.parse(at) : undefined
}

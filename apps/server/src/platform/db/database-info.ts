import { type Kysely, sql } from 'kysely'
import { dialectOf } from './dialect.js'

/** Facts about a database for people. */
export interface DatabaseInfo {
  engine: 'sqlite' | 'postgres'
  /** Version of the engine. */
  version: string
  usedBytes: number
}

/** Reads the version and the size of a database. */
export async function databaseInfo<DB>(db: Kysely<DB>): Promise<DatabaseInfo> {
  const dialect = dialectOf(db)
  const query = dialect.choose({
    sqlite: sql<{ version: string; bytes: number }>`
      select sqlite_version() as version, page_count * page_size as bytes
      from pragma_page_count(), pragma_page_size()`,
    postgres: sql<{ version: string; bytes: number }>`
      select current_setting('server_version') as version,
        pg_database_size(current_database()) as bytes`,
  })
  const { rows } = await query.execute(db)
  const [row] = rows
  return { engine: dialect.name, version: row?.version ?? '', usedBytes: Number(row?.bytes ?? 0) }
}

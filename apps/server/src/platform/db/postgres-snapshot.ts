import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { createHandles } from './executor.js'
import { connectAlone, execute, toDatabaseError } from './postgres-connection.js'
import { postgresWriter } from './postgres-driver.js'
import type { Schema } from './schema.js'
import type { DatabaseSnapshot, TableCount } from './snapshot.js'

/** Takes a snapshot of a PostgreSQL database: a transaction, from which the rows are streamed. */
export async function takePostgresSnapshot(url: string): Promise<DatabaseSnapshot> {
  const client = await connectAlone(url)
  try {
    await client.query('begin isolation level repeatable read read only')
    const tables = await listTables(client)
    const { rows: steps } = await client.query<{ name: string }>(
      tables.some(({ name }) => name === 'migrations')
        ? 'select name from migrations order by name'
        : "select '' as name where false",
    )
    const counts: TableCount[] = []
    const handles = createHandles<Schema>(postgresWriter)
    return {
      engine: 'postgres',
      db: handles.reads((query) => execute(client, query, undefined)),
      schema: steps.map(({ name }) => name),
      async *parts() {
        for (const { name, columns } of tables) {
          const names = columns.map(quote).join(', ')
          const stream = client.query(copyTo(`copy ${quote(name)} (${names}) to stdout`))
          yield { name, columns, content: readRows(stream) }
          counts.push({ name, rows: stream.rowCount })
        }
      },
      tables: async () => counts,
      close: () => client.end(),
    }
  } catch (error) {
    await client.end().catch(() => undefined)
    throw toDatabaseError(error)
  }
}

async function* readRows(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream
  } catch (error) {
    throw toDatabaseError(error)
  }
}

/** A table with the columns whose values are stored. */
export interface TableColumns {
  name: string
  columns: string[]
}

/** The tables of the database, by name. */
export async function listTables(client: pg.ClientBase): Promise<TableColumns[]> {
  const { rows } = await client.query<TableColumns>(`
    select class.relname::text as name, array_agg(attname::text order by attnum) as columns
    from pg_class as class
    join pg_attribute as attribute on attrelid = class.oid
    where relkind = 'r' and relnamespace = current_schema()::regnamespace
      and attnum > 0 and not attisdropped and attgenerated = ''
    group by class.relname order by class.relname collate "C"`)
  return rows
}

/** A name in SQL. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

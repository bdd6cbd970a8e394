import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Transaction } from 'kysely'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { postgresDialect } from './dialect.js'
import { createHandles } from './executor.js'
import { type Migration, takeSteps } from './migrate.js'
import { connectAlone, execute, toDatabaseError } from './postgres-connection.js'
import { postgresWriter, upgradeLock } from './postgres-driver.js'
import { listTables, quote } from './postgres-snapshot.js'
import type { Schema } from './schema.js'
import type { SnapshotPart, TableCount } from './snapshot.js'

export interface PostgresLoad {
  /** The migrations that the rows belong to. */
  migrations: readonly Migration[]
  /** Makes tables that are not of migrations, if there are rows for them. */
  prepare(tx: Transaction<Schema>, tables: readonly string[]): Promise<void>
  /** Tables with their rows, in any order. */
  parts: readonly (Omit<SnapshotPart, 'content'> & { read(): AsyncIterable<Buffer> })[]
  /** Sees what was loaded, before it is stored: rejects if it is not what it should be. */
  check(tx: Transaction<Schema>, tables: readonly TableCount[]): Promise<void>
}

/** The database has tables. */
export class DatabaseOccupiedError extends Error {
  override readonly name = 'DatabaseOccupiedError'
}

/**
 * Fills an empty PostgreSQL database with the rows of a snapshot, in one transaction: it has all of them or none.
 * @param options.keep whether to store it; otherwise it is only checked
 * @param options.isResumed whether an earlier call may have stored it: then a database with tables is checked
 * @throws DatabaseOccupiedError
 */
export async function loadPostgres(
  url: string,
  load: PostgresLoad,
  { keep, isResumed }: { keep: boolean; isResumed: boolean },
): Promise<void> {
  const client = await connectAlone(url)
  try {
    await client.query('begin read write')
    await client.query(`select pg_advisory_xact_lock(${upgradeLock})`)
    const isEmpty = (await listTables(client)).length === 0
    if (!isEmpty && !isResumed) {
      throw new DatabaseOccupiedError('The PostgreSQL database has tables: it must be empty.')
    }
    const handles = createHandles<Schema>(postgresWriter)
    const tx = handles.transaction((query) => execute(client, query, undefined))
    if (isEmpty) {
      await takeSteps(tx as unknown as Transaction<unknown>, postgresDialect, load.migrations)
      await load.prepare(
        tx,
        load.parts.map(({ name }) => name),
      )
      await loadRows(client, load.parts)
    }
    const counts: TableCount[] = []
    for (const { name } of await listTables(client)) {
      const { rows } = await client.query(`select count(*)::int8 as rows from ${quote(name)}`)
      counts.push({ name, rows: Number(rows[0]?.rows) })
    }
    await load.check(tx, counts).catch((cause: unknown) => {
      throw isEmpty ? cause : new DatabaseOccupiedError('The database has other rows.', { cause })
    })
    if (!keep) return
    await client.query('commit')
    // Without statistics, the first queries would choose bad plans.
    await client.query('analyze')
  } catch (error) {
    throw toDatabaseErrorIfOwn(error)
  } finally {
    // Ending the connection takes back what was not committed.
    await client.end().catch(() => undefined)
  }
}

/** Whether a database has tables. */
export async function hasTables(url: string): Promise<boolean> {
  const client = await connectAlone(url)
  try {
    return (await listTables(client)).length > 0
  } finally {
    await client.end()
  }
}

/**
 * Runs `work` with an empty database on the same server, which is dropped at the end.
 * @throws Error with what to do when the user may not create one
 */
export async function withTemporaryDatabase<T>(
  url: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const name = `botstead_verify_${randomBytes(8).toString('hex')}`
  const client = await connectAlone(url)
  try {
    await client.query(`create database ${name} template template0`).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(
        `A temporary database cannot be created (${reason}): give an empty one with --database.`,
        { cause },
      )
    })
    const temporary = new URL(url)
    temporary.pathname = `/${name}`
    try {
      return await work(temporary.href)
    } finally {
      await client.query(`drop database ${name} with (force)`)
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function loadRows(client: pg.Client, parts: PostgresLoad['parts']): Promise<void> {
  const tables = await listTables(client)
  const known = new Map(tables.map(({ name, columns }) => [name, new Set(columns)]))
  for (const { name, columns } of parts) {
    const unknown = columns.find((column) => known.get(name)?.has(column) !== true)
    if (unknown !== undefined || columns.length === 0) {
      throw new Error(`The table ${name} has no column ${unknown} in this version.`)
    }
  }
  // Migrations write rows too, such as their own history.
  await client.query(`truncate ${tables.map(({ name }) => quote(name)).join(', ')}`)
  const byName = new Map(parts.map((part) => [part.name, part]))
  for (const name of await inOrderOfReferences(
    client,
    tables.map((table) => table.name),
  )) {
    const part = byName.get(name)
    if (part === undefined) continue
    const names = part.columns.map(quote).join(', ')
    const rows = Readable.from(part.read(), { objectMode: false })
    await pipeline(rows, client.query(copyFrom(`copy ${quote(name)} (${names}) from stdin`)))
  }
  await setSequences(client)
}

/** Tables, those that others refer to first. */
async function inOrderOfReferences(client: pg.Client, tables: string[]): Promise<string[]> {
  const { rows } = await client.query<{ from: string; to: string }>(`
    select conrelid::regclass::text as "from", confrelid::regclass::text as "to"
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`)
  const ordered = new Set<string>()
  const visit = (name: string, above: readonly string[]) => {
    if (ordered.has(name) || above.includes(name)) return
    for (const { from, to } of rows) if (from === name) visit(to, [...above, name])
    ordered.add(name)
  }
  for (const name of tables) visit(name, [])
  return [...ordered]
}

/** Numbers that the database gives go on after the highest that is there. */
async function setSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(`
    select relname::text as "table", attname::text as "column"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where attidentity <> '' and relkind = 'r' and relnamespace = current_schema()::regnamespace`)
  for (const { table, column } of rows) {
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${quote(column)}), 1), max(${quote(column)}) is not null) from ${quote(table)}`,
      [quote(table), column],
    )
  }
}

/** Errors of reading and checking stay as they are. */
function toDatabaseErrorIfOwn(error: unknown): unknown {
  const isOfDriver = error instanceof Error && 'severity' in error
  return isOfDriver ? toDatabaseError(error) : error
}

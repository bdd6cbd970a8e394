import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Transaction,
} from 'kysely'
import { makePrivateFile } from '../disk/files.js'
import { freeBytes, isDiskFull, minimumFreeBytes } from '../disk/free-space.js'
import type { Log } from '../telemetry/log.js'
import { sqliteDialect } from './dialect.js'
import { createDiskReserve, createReservedDeletions } from './disk-reserve.js'
import type { Database } from './engine.js'
import { DatabaseUnavailableError } from './errors.js'
import { createHandles, refuseToStream, type SqlWriter } from './executor.js'
import { GroupCommit } from './group-commit.js'
import type { RunOptions, Schema, Tx } from './schema.js'
import { diskFullError, SqliteConnection, type SqliteRole } from './sqlite-connection.js'
import { createNestingGuard, noGuard } from './transaction-gate.js'

export interface SqliteOptions {
  /** Path of the database file; made if missing. */
  readonly file: string
  /** Bytes of its disk that are kept for deletions, in a file beside it. Default 0. */
  readonly reserveBytes?: number
  /** Milliseconds to wait for another process that holds the file. Default 5,000. */
  readonly busyTimeout?: number
  /** Whether to notice a transaction that reads outside of itself or opens another. Default false. */
  readonly guardNesting?: boolean
  /** Used when space for deletions cannot be reserved. */
  readonly log?: Log
}

export const sqliteWriter: SqlWriter = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}

const dataVersion = CompiledQuery.raw('pragma data_version')
const foreignKeyCheck = CompiledQuery.raw('pragma foreign_key_check')

const limits = { maxBatch: 512, maxBatchMilliseconds: 10 }

/**
 * Opens a SQLite file: one connection that writes in groups, one that reads what is committed.
 * Queries run on the calling thread; with the pages in memory that takes microseconds.
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const { file, busyTimeout = 5000, guardNesting = false, reserveBytes = 0, log } = options
  const guard = guardNesting ? createNestingGuard() : noGuard
  // SQLite gives its log and its index the permissions that the database has.
  await makePrivateFile(file)
  const reserve = createDiskReserve(`${file}-reserve`, reserveBytes)
  const connect = () => connectBoth(file, busyTimeout)
  const { writer, reader } = await connect().catch(async (error) => {
    if (!isDiskFull(dirname(file))) throw error
    // Opening takes space too, for the index of the log.
    await reserve.release()
    return await connect()
  })
  const deletions = createReservedDeletions(writer, file, reserve, log)
  const commits = new GroupCommit(writer, { ...limits, busyTimeout }, deletions)
  let filling: Promise<void> | undefined = deletions.refill()
  const handles = createHandles<Schema>(sqliteWriter)
  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    await filling
    filling = undefined
    await commits.idle()
    reader.close()
    writer.close()
  }

  function close(): Promise<void> {
    closing ??= shut()
    return closing
  }

  /** Throws if the caller may not read, or begin a transaction, now. */
  function admit(): void {
    guard.refuse()
    if (closing) throw new DatabaseUnavailableError('The database is closed')
  }

  async function upgrade<T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T> {
    admit()
    const own = await connectSqlite(file, 'writer', busyTimeout)
    try {
      // Rebuilding a table needs foreign keys off, which SQLite refuses inside a transaction.
      own.exec('pragma foreign_keys = off')
      const tx = createHandles<unknown>(sqliteWriter)
      const commit = new GroupCommit(own, { ...limits, busyTimeout })
      return await commit.run(async (connection, gate) => {
        const value = await guard.inside(gate, () => work(tx.transaction(connection)))
        const { rows } = await connection.executeQuery(foreignKeyCheck)
        if (rows.length === 0) return value
        throw new Error(`The upgrade leaves ${rows.length} rows that refer to missing rows`)
      })
    } finally {
      own.close()
      writer.forgetStatements()
      reader.forgetStatements()
    }
  }

  return {
    db: handles.reads(new ReaderConnection(reader, admit)),
    dialect: sqliteDialect,
    file,
    url: undefined,
    async run<T>(work: (tx: Tx) => Promise<T>, runOptions?: RunOptions): Promise<T> {
      admit()
      return commits.run(
        async (connection, gate) => guard.inside(gate, () => work(handles.transaction(connection))),
        runOptions,
      )
    },
    upgrade,
    foreignChanges() {
      admit()
      // On the connection that writes: it counts the changes of all others.
      const [row] = writer.execute<{ data_version: number }>(dataVersion).rows
      return row?.data_version
    },
    async check() {
      admit()
      reader.exec('select 1 from sqlite_schema limit 1')
      if ((await freeBytes(dirname(file))) < minimumFreeBytes) throw diskFullError(undefined)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function connectBoth(file: string, busyTimeout: number) {
  const writer = await connectSqlite(file, 'writer', busyTimeout)
  try {
    return { writer, reader: await connectSqlite(file, 'reader', busyTimeout) }
  } catch (error) {
    writer.close()
    throw error
  }
}

/** Opens the file once, waiting without blocking for another process that holds it. */
export async function connectSqlite(
  file: string,
  role: SqliteRole,
  busyTimeout: number,
): Promise<SqliteConnection> {
  const deadline = performance.now() + busyTimeout
  for (;;) {
    try {
      return new SqliteConnection(file, role)
    } catch (error) {
      if (!sqliteDialect.isTransient(error) || performance.now() > deadline) {
        const reason = error instanceof Error ? error.message : error
        throw new DatabaseUnavailableError(
          `The database file ${file} cannot be opened (${reason}): see that this user may write to it and its folder, that the disk has room, and that the file is whole.`,
          { cause: error },
        )
      }
    }
    await sleep(10)
  }
}

class ReaderConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection
  readonly #admit: () => void
  readonly streamQuery = refuseToStream

  constructor(connection: SqliteConnection, admit: () => void) {
    this.#connection = connection
    this.#admit = admit
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#admit()
    return this.#connection.execute<R>(query)
  }
}

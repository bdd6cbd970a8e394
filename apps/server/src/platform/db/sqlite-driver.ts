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
import type { Schema, Tx } from '../../schema.js'
import { sqliteDialect } from './dialect.js'
import type { Database } from './engine.js'
import { DatabaseUnavailableError, TransactionMisuseError } from './errors.js'
import { createHandles, type SqlWriter } from './executor.js'
import { GroupCommit } from './group-commit.js'
import { SqliteConnection, type SqliteRole } from './sqlite-connection.js'

export interface SqliteOptions {
  /** Path of the database file; made if missing. */
  readonly file: string
  /** Milliseconds to wait for another process that holds the file. Default 5,000. */
  readonly busyTimeout?: number
}

const sqliteWriter: SqlWriter = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}

const foreignKeyCheck = CompiledQuery.raw('pragma foreign_key_check')

/**
 * Opens a SQLite file: one connection that writes in groups, one that reads what is committed.
 * Queries run on the calling thread; with the pages in memory that takes microseconds.
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const { file, busyTimeout = 5000 } = options
  const writer = await connect(file, 'writer', busyTimeout)
  const reader = await connect(file, 'reader', busyTimeout)
  // From here on, waiting for another process is done without blocking the thread.
  writer.exec('pragma busy_timeout = 0')
  const limits = { maxBatch: 512, maxBatchMilliseconds: 10, busyTimeout }
  const commits = new GroupCommit(writer, limits)
  const handles = createHandles<Schema>(sqliteWriter)
  const upgrades = createHandles<unknown>(sqliteWriter)
  const db = handles.reads(new ReaderConnection(reader))
  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    await commits.idle()
    reader.close()
    writer.close()
  }

  function refuseWhenClosed(): void {
    if (closing) throw new DatabaseUnavailableError('The database is closed')
  }

  const database: Database = {
    db,
    dialect: sqliteDialect,
    file,
    async run<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      refuseWhenClosed()
      return commits.run(async (connection) => work(handles.transaction(connection)))
    },
    async upgrade<T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T> {
      refuseWhenClosed()
      // Rebuilding a table takes foreign keys off, which is refused inside a transaction.
      const own = await connect(file, 'writer', busyTimeout)
      try {
        own.exec('pragma foreign_keys = off')
        return await new GroupCommit(own, limits).run(async (connection) => {
          const value = await work(upgrades.transaction(connection))
          const { rows } = await connection.executeQuery(foreignKeyCheck)
          if (rows.length > 0)
            throw new Error(`${rows.length} rows refer to rows that do not exist`)
          return value
        })
      } finally {
        own.close()
      }
    },
    async check() {
      refuseWhenClosed()
      reader.exec('select 1 from sqlite_schema limit 1')
    },
    close() {
      closing ??= shut()
      return closing
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
  return database
}

/** Opens the file, waiting for a process that is just opening it too: SQLite itself does not. */
async function connect(
  file: string,
  role: SqliteRole,
  busyTimeout: number,
): Promise<SqliteConnection> {
  const deadline = performance.now() + busyTimeout
  for (;;) {
    try {
      return new SqliteConnection(file, role, busyTimeout)
    } catch (error) {
      if (!sqliteDialect.isTransient(error) || performance.now() > deadline) {
        throw new DatabaseUnavailableError(`Cannot open the database file ${file}`, {
          cause: error,
        })
      }
      await sleep(10)
    }
  }
}

class ReaderConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.execute<R>(query)
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new TransactionMisuseError('Rows are read in pages, not streamed')
  }
}

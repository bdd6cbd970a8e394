import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompiledQuery,
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
import type { Database, DatabaseReads, OnCommit } from './engine.js'
import { DatabaseUnavailableError } from './errors.js'
import { createHandles, type SqlWriter } from './executor.js'
import { GroupCommit } from './group-commit.js'
import { createLogSync, type SyncedFile, syncedFile } from './log-sync.js'
import type { Schema } from './schema.js'
import { diskFullError, SqliteConnection, type SqliteRole } from './sqlite-connection.js'
import { emptyLargeLog, emptyLog, keepLogSmall } from './sqlite-log.js'
import { createNestingGuard } from './transaction.js'

export interface SqliteOptions {
  /** Path of the database file; made if missing. */
  readonly file: string
  /** Bytes of its disk that are kept for deletions, in a file beside it. Default 0. */
  readonly reserveBytes?: number
  /** Milliseconds to wait for another process that holds the file. Default 5,000. */
  readonly busyTimeout?: number
  /** Whether to detect a transaction that reads outside of itself or opens another. Default false. */
  readonly guardNesting?: boolean
  /** Used when space for deletions cannot be reserved, or commits cannot be made durable. */
  readonly log?: Log
  /** Milliseconds without a write after which a large log is emptied. Default 10,000. */
  readonly logIdleMs?: number
  readonly onCommit?: OnCommit
  /** Makes the log of SQLite durable, given its path; for tests of a disk that is slow or fails. */
  readonly syncLog?: (path: string) => SyncedFile
}

/** Compiles queries to the SQL of SQLite. */
export const sqliteWriter: SqlWriter = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}

const dataVersion = CompiledQuery.raw('pragma data_version')
const foreignKeyCheck = CompiledQuery.raw('pragma foreign_key_check')

const defaultBusyTimeout = 5000
const defaultLogIdleMs = 10_000
const batchLimits = { maxBatch: 512, maxBatchMilliseconds: 10 }

/**
 * Opens a SQLite file: one connection that writes in groups, one that reads what is committed.
 * Queries run on the calling thread; with the pages in memory that takes microseconds.
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const {
    file,
    busyTimeout = defaultBusyTimeout,
    guardNesting = false,
    reserveBytes = 0,
    log,
  } = options
  const guard = guardNesting ? createNestingGuard() : undefined
  // SQLite gives its log and its index the permissions that the database has.
  await makePrivateFile(file)
  const space = createDiskReserve(`${file}-reserve`, reserveBytes)
  const connect = () => connectBoth(file, busyTimeout)
  const { writer, reader } = await connect().catch(async (error) => {
    if (!isDiskFull(dirname(file))) throw error
    // Opening takes space too, for the index of the log.
    await space.release()
    return await connect()
  })
  await emptyLargeLog(file, writer)
  const reserve = createReservedDeletions(writer, file, space, log)
  const filling = reserve.refill()
  const handles = createHandles<Schema>(sqliteWriter)
  const limits = { ...batchLimits, busyTimeout }
  // Only this connection leaves the sync of its commits to `sync`.
  writer.exec('pragma synchronous = normal')
  const writeAhead = (options.syncLog ?? syncedFile)(`${file}-wal`)
  const sync = createLogSync(async () => {
    try {
      await writeAhead.sync()
    } catch (err) {
      log?.error(
        { err },
        'the disk failed to store the log of the database: nothing more is stored',
      )
      throw err
    }
  })
  const commits = new GroupCommit({
    connection: writer,
    handles,
    limits,
    reserve,
    sync,
    onCommit: options.onCommit,
    guard,
  })
  const upkeep = keepLogSmall(file, options.logIdleMs ?? defaultLogIdleMs, log)
  let closing: Promise<void> | undefined

  /** Throws if the caller may not use the database now. */
  function admit(): void {
    guard?.refuse()
    if (closing) throw new DatabaseUnavailableError('The database is closed')
  }

  async function upgrade<T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T> {
    admit()
    const connection = await connectSqlite(file, 'writer', busyTimeout)
    try {
      // Rebuilding a table needs foreign keys off, which SQLite refuses inside a transaction.
      connection.exec('pragma foreign_keys = off')
      const ownHandles = createHandles<unknown>(sqliteWriter)
      const commits = new GroupCommit({ connection, handles: ownHandles, limits, guard })
      return await commits.run(async (tx) => {
        const value = await work(tx)
        const { rows } = await tx.executeQuery(foreignKeyCheck)
        if (rows.length === 0) return value
        throw new Error(`The upgrade leaves ${rows.length} rows that refer to missing rows`)
      })
    } finally {
      connection.close()
      writer.forgetStatements()
      reader.forgetStatements()
    }
  }

  function close(): Promise<void> {
    closing ??= closeAll()
    return closing
  }

  async function closeAll(): Promise<void> {
    await Promise.all([commits.close(), filling, upkeep.stop()])
    guard?.end()
    reader.close()
    emptyLog(writer)
    writer.close()
    await writeAhead.close()
  }

  return {
    db: handles.reads(async (query) => {
      admit()
      const result = reader.execute<never>(query)
      // The rows may be of a commit that is not durable, which a loss of power would take back.
      const durable = sync.durable()
      if (durable !== undefined) await durable
      return result
    }),
    dialect: sqliteDialect,
    file,
    url: undefined,
    run: (body, given) => commits.run(body, given),
    upgrade,
    durable: async () => await sync.durable(),
    foreignChanges() {
      admit()
      // On the connection that writes: it counts the changes of all others.
      const [row] = writer.execute<{ data_version: number }>(dataVersion).rows
      return row?.data_version
    },
    async check() {
      admit()
      sync.requireIntact()
      reader.exec('select 1 from sqlite_schema limit 1')
      if ((await freeBytes(dirname(file))) < minimumFreeBytes) throw diskFullError(undefined)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Opens a SQLite file for reads only.
 * @param file path of the database file, which must exist
 */
export async function openSqliteReads(
  file: string,
  role: Exclude<SqliteRole, 'writer'> = 'reader',
): Promise<DatabaseReads> {
  const connection = await connectSqlite(file, role, defaultBusyTimeout)
  const db = createHandles<Schema>(sqliteWriter).reads(async (query) => connection.execute(query))
  return {
    db,
    async snapshot(work) {
      connection.exec('begin')
      try {
        return await work(db)
      } finally {
        // Some errors end the transaction by themselves.
        if (connection.inTransaction) connection.exec('rollback')
      }
    },
    close: async () => connection.close(),
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
async function connectSqlite(
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

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { getLoadablePath } from 'sqlite-vec'
import { isDiskFull } from '../disk/free-space.js'
import { uncut } from '../workers/thread-end.js'
import { sqliteDialect } from './dialect.js'
import { DatabaseFullError } from './errors.js'

/** The use of a connection, which determines its pragmas. */
export type SqliteRole = 'reader' | 'writer' | 'inspector'

interface CachedStatement {
  readonly statement: StatementSyncInstance
  /** Whether it returns rows: a select, or a write with a returning clause. */
  readonly rows: boolean
  /** Names of the columns that it returns, known after its first run. */
  columns: readonly string[] | undefined
  /** Rows that it has returned, until its maker of rows is compiled. */
  returned: number
  /** Makes its rows, once it has returned many. */
  toRow: ToRow | undefined
  /** Whether it changes the schema, and with it what other statements return. */
  readonly changesSchema: boolean
}

const maxStatements = 500

const commonPragmas = ['foreign_keys = on', 'temp_store = memory', 'trusted_schema = off']

// Milliseconds. Waiting for a lock blocks the thread, so the wait is short while the file is opened.
// After that, the writer never blocks but waits in its own way; a reader meets a lock only while
// another process repairs the log after a crash.
const openingTimeout = 20

/** Pages of the log at which SQLite moves them into the file by itself. */
export const pagesOfLog = 8000

const pragmas: Record<SqliteRole, readonly string[]> = {
  writer: [
    'journal_mode = wal',
    'synchronous = full',
    // Pages of the log that are moved into the file at once, 32 MB: pages that many commits change, such
    // as the ends of tables, are moved once. A start after a crash reads the log in well under a second.
    `wal_autocheckpoint = ${pagesOfLog}`,
    'cache_size = -16384',
    // The log is cut back after a burst; what is left of it is removed when nothing is written, see sqlite-log.ts.
    'journal_size_limit = 33554432',
    'busy_timeout = 0',
  ],
  reader: ['cache_size = -16384', 'query_only = on', 'busy_timeout = 5000'],
  inspector: ['query_only = on', 'busy_timeout = 1000'],
}

/** One connection to a SQLite file. Queries run at once, on the thread of the caller. */
export class SqliteConnection {
  readonly #file: string
  readonly #database: DatabaseSyncInstance
  readonly #statements = new Map<string, CachedStatement>()

  constructor(file: string, role: SqliteRole) {
    this.#file = file
    this.#database = uncut(() => openDatabase(file, role))
  }

  /** False also after an error so bad that SQLite itself rolled everything back. */
  get inTransaction(): boolean {
    return uncut(() => this.#database.isTransaction)
  }

  /** Runs statements that take no parameters and return nothing. */
  exec(sql: string): void {
    uncut(() => this.#database.exec(sql))
  }

  /** A statement that its owner keeps for the life of the connection. Not for threads of a pool: its calls are not in `uncut`. */
  prepare(sql: string): StatementSyncInstance {
    return this.#database.prepare(sql)
  }

  /** Runs a query, at once. */
  execute<R>(query: CompiledQuery): QueryResult<R> {
    return uncut(() => this.#execute<R>(query))
  }

  #execute<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    try {
      const cached = this.#statements.get(sql) ?? this.#prepareQuery(sql)
      // A Map keeps the order of insertion: the first entry is the one not used for longest.
      this.#statements.delete(sql)
      this.#statements.set(sql, cached)
      const { statement } = cached
      if (!cached.rows) {
        const { changes } = statement.run(...parameters)
        if (cached.changesSchema) this.#statements.clear()
        return { rows: [], numAffectedRows: BigInt(changes) }
      }
      const values = statement.all(...parameters) as unknown[][]
      // Only a run makes a connection notice that another one has changed the schema.
      cached.columns ??= statement.columns().map(({ name }) => name)
      return { rows: toRows<R>(cached, values) }
    } catch (error) {
      throw this.isFull(error) ? diskFullError(error) : error
    }
  }

  #prepareQuery(sql: string): CachedStatement {
    const statement = this.#database.prepare(sql)
    const [oldest] = this.#statements.keys()
    if (this.#statements.size >= maxStatements && oldest !== undefined) {
      this.#statements.delete(oldest)
    }
    // Rows as arrays take half the time of rows as objects, whose members are set one by one from
    // outside of the engine.
    statement.setReturnArrays(true)
    return {
      statement,
      rows: statement.columns().length > 0,
      columns: undefined,
      returned: 0,
      toRow: undefined,
      changesSchema: /^\s*(create|alter|drop)\b/i.test(sql),
    }
  }

  /**
   * Whether an error means that the disk is full. SQLite reports it as such only for some of its files, and
   * reports an exhausted quota as an I/O error.
   */
  isFull(error: unknown): boolean {
    if (sqliteDialect.isFull(error)) return true
    return hasFailedToAccess(error) && isDiskFull(dirname(this.#file))
  }

  /** To be called when another connection may have changed the schema. */
  forgetStatements(): void {
    this.#statements.clear()
  }

  close(): void {
    this.#statements.clear()
    uncut(() => this.#database.close())
  }
}

function openDatabase(file: string, role: SqliteRole): DatabaseSyncInstance {
  const database =
    role === 'inspector'
      ? openUnchanged(file)
      : new DatabaseSync(file, { timeout: openingTimeout, allowExtension: true })
  try {
    for (const pragma of [...commonPragmas, ...pragmas[role]]) database.exec(`pragma ${pragma}`)
    // Unlike SQLite's own lower(), which leaves everything outside ASCII as it is.
    database.function('fold_case', { deterministic: true }, foldCase)
    loadVectorFunctions(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Opens a file without changing it: other connections create a log beside it, and the last one that closes moves it into
 * the file. What a server that was killed left in the log is read, and stays there; only the index of the log, which
 * SQLite makes anew at any time, is written.
 */
export function openUnchanged(file: string): DatabaseSyncInstance {
  const url = pathToFileURL(file)
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  // Without a log SQLite would create one, unless told that nobody writes.
  if (log === undefined || log.size === 0) url.search = '?immutable=1'
  return new DatabaseSync(url.href, {
    timeout: openingTimeout,
    allowExtension: true,
    readOnly: true,
  })
}

/** Makes an object of the cells of a row. */
type ToRow = (cells: readonly unknown[]) => unknown

/** Rows after which compiling their maker pays off. */
const rowsBeforeCompiling = 500

function toRows<R>(statement: CachedStatement, values: readonly unknown[][]): R[] {
  const { columns = [], toRow } = statement
  if (toRow !== undefined) return values.map((cells) => toRow(cells) as R)
  statement.returned += values.length
  if (statement.returned > rowsBeforeCompiling) statement.toRow = compileToRow(columns)
  return values.map((cells) => {
    const row: Record<string, unknown> = {}
    for (let at = 0; at < columns.length; at++) row[columns[at] as string] = cells[at]
    return row as R
  })
}

/** An object literal is made ten times as fast as an object whose members are added by name. */
function compileToRow(columns: readonly string[]): ToRow {
  const members = columns.map((column, at) => `${JSON.stringify(column)}: cells[${at}]`)
  return new Function('cells', `return { ${members.join(', ')} }`) as ToRow
}

/** Names the fault for the operator. */
export function diskFullError(cause: unknown): DatabaseFullError {
  return new DatabaseFullError('The disk of the data folder is full: make room there.', { cause })
}

/** Whether reading or writing a file failed, for whatever reason. */
function hasFailedToAccess(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('disk I/O error')
}

/** Without a build of the extension for this platform, search works without vectors. */
function loadVectorFunctions(database: DatabaseSyncInstance): void {
  try {
    database.enableLoadExtension(true)
    database.loadExtension(getLoadablePath())
  } catch {
    // The vector index detects that it is missing, and reports it.
  } finally {
    database.enableLoadExtension(false)
  }
}

function foldCase(text: unknown): unknown {
  return typeof text === 'string' ? text.toLowerCase() : text
}

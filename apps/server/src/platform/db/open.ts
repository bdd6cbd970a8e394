import type { Logger } from 'pino'
import type { Database, DatabaseReads, OnCommit } from './engine.js'
import type { SyncedFile } from './log-sync.js'

export type { Database, DatabaseReads } from './engine.js'

export interface DatabaseOptions {
  /** Address of a PostgreSQL database, `postgres://...`; takes precedence over `file`. */
  readonly url?: string
  /** Path of a SQLite file. */
  readonly file?: string
  /** Bytes of the disk of that file that are kept for deletions. Default 0. */
  readonly reserveBytes?: number
  /** Maximum number of connections to PostgreSQL at a time. Default 10. */
  readonly poolSize?: number
  /** Milliseconds to wait for a lock or a free connection. Default 5,000. */
  readonly busyTimeout?: number
  /** Milliseconds one statement may take on PostgreSQL. Default 30,000. */
  readonly statementTimeout?: number
  /**
   * Whether transactions on SQLite are watched for use of the outer handle and for nesting. Default
   * false, because it costs speed; PostgreSQL always does, and tests do on both.
   */
  readonly guardNesting?: boolean
  readonly log?: Logger
  /** Milliseconds without a write after which a large log of SQLite is emptied. Default 10,000. */
  readonly logIdleMs?: number
  readonly onCommit?: OnCommit
  /** Makes the log of SQLite durable, given its path; for tests of a disk that is slow or fails. */
  readonly syncLog?: (path: string) => SyncedFile
}

/** Opens the database that the options name. Rejects with the reason if it cannot be used. */
export async function openDatabase({ url, file, ...rest }: DatabaseOptions): Promise<Database> {
  // Only the driver that is used is loaded, which a start can feel.
  if (url) {
    const { openPostgres } = await import('./postgres-driver.js')
    return openPostgres({ url, ...rest })
  }
  if (file) {
    const { openSqlite } = await import('./sqlite-driver.js')
    return openSqlite({ file, ...rest })
  }
  throw new Error('A database needs a url or a file')
}

/**
 * Opens an existing database for a look at it: whether or not a server runs on it, nothing of it changes, and none of
 * its queries takes long on PostgreSQL, which is connected to by the first one.
 */
export async function openInspection({
  url,
  file,
}: Pick<DatabaseOptions, 'url' | 'file'>): Promise<DatabaseReads> {
  if (url) return await openReads({ url, poolSize: 4, statementTimeout: inspectionTimeoutMs })
  if (file === undefined) throw new Error('A database needs a url or a file')
  const { openSqliteReads } = await import('./sqlite-driver.js')
  return await openSqliteReads(file, 'inspector')
}

const inspectionTimeoutMs = 5000

/**
 * Opens an existing database for reads only, on connections of its own. `poolSize` and `statementTimeout` are for
 * PostgreSQL, which is connected to by the first read.
 */
export async function openReads({
  url,
  file,
  ...rest
}: Pick<
  DatabaseOptions,
  'url' | 'file' | 'poolSize' | 'statementTimeout'
>): Promise<DatabaseReads> {
  if (url) {
    const { openPostgresReads } = await import('./postgres-driver.js')
    return openPostgresReads({ url, ...rest })
  }
  if (file) {
    const { openSqliteReads } = await import('./sqlite-driver.js')
    return await openSqliteReads(file)
  }
  throw new Error('A database needs a url or a file')
}

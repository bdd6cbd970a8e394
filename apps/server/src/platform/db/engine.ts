import type { Transaction } from 'kysely'
import type { Dialect } from './dialect.js'
import type { Db, RunOptions, Tx } from './schema.js'

/** A database that is only read, on connections of its own. */
export interface DatabaseReads {
  /**
   * Runs `work` on what is committed when its first query begins: whatever is written meanwhile, its queries agree
   * with each other. `work` awaits nothing but queries of its handle. On SQLite, one at a time.
   */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Reads outside of a snapshot, each by itself. */
  readonly db: Db
  /** Waits for running snapshots on PostgreSQL; on SQLite, none may run. Later ones are refused. */
  close(): Promise<void>
}

/**
 * Called with the milliseconds that a commit took until it was durable, the wait for the disk included. On SQLite several
 * transactions may share one. Changes of the schema and failed commits are left out.
 */
export type OnCommit = (milliseconds: number) => void

/** A database that is open, whatever engine it is. */
export interface Database {
  /** For reads outside a transaction. Sees committed rows only and refuses to write. */
  readonly db: Db
  readonly dialect: Dialect
  /** Path of the SQLite file; undefined on PostgreSQL. */
  readonly file: string | undefined
  /** Address of the PostgreSQL database; undefined on SQLite. */
  readonly url: string | undefined
  /**
   * Runs `work` in a transaction of its own and resolves with its result once that is durable.
   * `work` awaits nothing but queries of its `tx`, opens no other transaction and may run more than
   * once. Rejects with the error of `work` or of a failed query; then nothing of it is stored.
   */
  run<T>(work: (tx: Tx) => Promise<T>, options?: RunOptions): Promise<T>
  /**
   * Resolves once everything is durable that another connection of this process can read. Reads of `db`
   * wait for it themselves.
   */
  durable(): Promise<void>
  /**
   * Like `run`, for changes of the schema: alone under a lock that holds off other processes,
   * without a time limit, foreign keys checked once at the end.
   */
  upgrade<T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T>
  /**
   * A number that is another one after any other process has written; undefined on PostgreSQL,
   * which does not report it. Costs as much as a small read.
   */
  foreignChanges(): number | undefined
  /** Rejects with the reason if the database cannot serve a read now. */
  check(): Promise<void>
  /** Waits for running transactions, then closes; later calls are refused. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

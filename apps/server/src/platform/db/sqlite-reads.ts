import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { createHandles, refuseToStream } from './executor.js'
import type { Db, Schema } from './schema.js'
import type { SqliteConnection } from './sqlite-connection.js'
import { connectSqlite, sqliteWriter } from './sqlite-driver.js'

/** A SQLite file that is only read, for a thread of its own. */
export interface SqliteReads {
  /**
   * Runs `work` on what is committed when it begins: whatever is written meanwhile, its queries agree
   * with each other. One at a time; `work` awaits nothing but queries of its handle.
   */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>
  close(): void
}

/** @param file path of the database file, which must be there */
export async function openSqliteReads(file: string, busyTimeout = 5000): Promise<SqliteReads> {
  const connection = await connectSqlite(file, 'reader', busyTimeout)
  const db = createHandles<Schema>(sqliteWriter).reads(new DirectConnection(connection))
  return {
    async snapshot(work) {
      connection.exec('begin')
      try {
        return await work(db)
      } finally {
        // Some errors end the transaction by themselves.
        if (connection.inTransaction) connection.exec('rollback')
      }
    },
    close: () => connection.close(),
  }
}

class DirectConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection
  readonly streamQuery = refuseToStream

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.execute<R>(query)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Schema, Tx } from '../../schema.js'
import { postgresDialect } from './dialect.js'
import type { Database } from './engine.js'
import { CommitFailedError, DatabaseUnavailableError, TransactionMisuseError } from './errors.js'
import { createHandles, type SqlWriter } from './executor.js'
import { TransactionGate } from './transaction-gate.js'

export interface PostgresOptions {
  /** Address of the database, `postgres://...`. */
  readonly url: string
  /** Most connections at a time. Default 10. */
  readonly poolSize?: number
  /** Milliseconds to wait for a lock or a free connection. Default 5,000. */
  readonly busyTimeout?: number
  /** Milliseconds one statement may take. Default 30,000. */
  readonly statementTimeout?: number
  readonly log?: Logger
}

const postgresWriter: SqlWriter = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

const maxAttempts = 6
// Any number will do, as long as every release uses the same one.
const upgradeLock = 7_301_519_046

/** Opens a pool of connections to PostgreSQL 15 or newer. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, poolSize = 10, busyTimeout = 5000, statementTimeout = 30_000, log } = options
  const session = [
    // Only run() writes: what slips past a transaction fails instead of surviving its rollback.
    'set session characteristics as transaction read only',
    `set statement_timeout = ${statementTimeout}`,
    `set lock_timeout = ${busyTimeout}`,
    `set idle_in_transaction_session_timeout = ${statementTimeout}`,
  ].join('; ')
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: busyTimeout,
    application_name: 'botstead',
    keepAlive: true,
    types: { getTypeParser },
    onConnect: async (client) => {
      await client.query(session)
    },
  })
  // An idle connection that breaks is replaced by the pool; without a listener it ends the process.
  pool.on('error', (error) => log?.warn({ err: error }, 'database connection lost'))
  const handles = createHandles<Schema>(postgresWriter)
  const upgrades = createHandles<unknown>(postgresWriter)
  let closing: Promise<void> | undefined

  async function connect(): Promise<pg.PoolClient> {
    if (closing) throw new DatabaseUnavailableError('The database is closed')
    try {
      return await pool.connect()
    } catch (error) {
      throw new DatabaseUnavailableError('The database cannot be reached', { cause: error })
    }
  }

  async function transact<T>(
    begin: string,
    work: (connection: DatabaseConnection) => Promise<T>,
  ): Promise<T> {
    const client = await connect()
    const gate = new TransactionGate()
    let broken = false
    try {
      await client.query(begin)
      const value = await work(new TransactionConnection(client, gate))
      if (gate.failure) throw gate.failure.error
      gate.close()
      const { command } = await client.query('commit')
      if (command !== 'COMMIT') throw new CommitFailedError('The transaction was rolled back')
      return value
    } catch (error) {
      gate.close()
      await client.query('rollback').catch(() => {
        broken = true
      })
      throw translate(error)
    } finally {
      client.release(broken)
    }
  }

  async function run<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await transact('begin read write', async (connection) =>
          work(handles.transaction(connection)),
        )
      } catch (error) {
        if (attempt === maxAttempts || !postgresDialect.isTransient(error)) throw error
        // A random pause keeps two that clashed from clashing again.
        await sleep(Math.random() * 5 * 2 ** attempt)
      }
    }
  }

  const database: Database = {
    db: handles.reads(new PoolConnection(connect)),
    dialect: postgresDialect,
    file: undefined,
    run,
    upgrade: (work) =>
      transact(
        `begin read write; set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0; select pg_advisory_xact_lock(${upgradeLock})`,
        async (connection) => work(upgrades.transaction(connection)),
      ),
    async check() {
      const client = await connect()
      try {
        await client.query('select 1')
        client.release()
      } catch (error) {
        client.release(true)
        throw translate(error)
      }
    },
    close() {
      closing ??= pool.end()
      return closing
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
  return database
}

async function execute<R>(client: pg.PoolClient, query: CompiledQuery): Promise<QueryResult<R>> {
  const { command, rowCount, rows } = await client.query(query.sql, [...query.parameters])
  if (command === 'SELECT' || rowCount === null) return { rows }
  return { rows, numAffectedRows: BigInt(rowCount) }
}

class TransactionConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #gate: TransactionGate

  constructor(client: pg.PoolClient, gate: TransactionGate) {
    this.#client = client
    this.#gate = gate
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#gate.check()
    try {
      return await execute<R>(this.#client, query)
    } catch (error) {
      this.#gate.fail(error)
      throw error
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new TransactionMisuseError('Rows are read in pages, not streamed')
  }
}

class PoolConnection implements DatabaseConnection {
  readonly #connect: () => Promise<pg.PoolClient>

  constructor(connect: () => Promise<pg.PoolClient>) {
    this.#connect = connect
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const client = await this.#connect()
    let broken = false
    try {
      return await execute<R>(client, query)
    } catch (error) {
      broken = isConnectionLoss(error)
      throw translate(error)
    } finally {
      client.release(broken)
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new TransactionMisuseError('Rows are read in pages, not streamed')
  }
}

/** An error that is not PostgreSQL's answer to a statement came from the connection. */
function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true
  // Class 57P: the server is shutting down, crashed, or an administrator ended the connection.
  return error.code?.startsWith('57P') ?? false
}

function translate(error: unknown): unknown {
  return error
}

// pg answers these as text, because they can exceed a number; the columns here never do.
const numericTypes: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (numericTypes.includes(oid)) return parseNumber
  return pg.types.getTypeParser(oid, format)
}

function parseNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`${text} is too large for a number`)
  }
  return value
}

import type { QueryResult } from 'kysely'
import pg from 'pg'
import { postgresDialect } from './dialect.js'
import { DatabaseBusyError, DatabaseFullError, DatabaseUnavailableError } from './errors.js'
import type { NamedQuery } from './executor.js'

export interface PoolOptions {
  readonly url: string
  /** Maximum number of connections at a time. */
  readonly poolSize: number
  /** Milliseconds to wait for a lock or a free connection. */
  readonly busyTimeout: number
  /** Milliseconds one statement may take, or a transaction may be idle. */
  readonly statementTimeout: number
}

/** Lends connections to one user at a time and opens them as they are needed. */
export class ConnectionPool {
  readonly #pool: pg.Pool
  readonly #uses = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  /** `onLost` is called for every connection that breaks. */
  constructor(options: PoolOptions, onLost: (error: Error) => void) {
    const { url, poolSize, busyTimeout, statementTimeout } = options
    const session = [
      // Only run() writes: what slips past a transaction fails, instead of surviving its rollback.
      'set session characteristics as transaction read only',
      `set statement_timeout = ${statementTimeout}`,
      `set lock_timeout = ${busyTimeout}`,
      `set idle_in_transaction_session_timeout = ${statementTimeout}`,
    ].join('; ')
    this.#pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: busyTimeout,
      application_name: 'botstead',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: { getTypeParser },
      onConnect: async (client) => {
        // Without listeners, here for lent and below for idle connections, the error ends the process.
        client.on('error', onLost)
        await client.query(session)
      },
    })
    this.#pool.on('error', () => {})
  }

  /** Lends a connection until `work` ends; `work` calls `discard` if the connection is of no further use. */
  async lend<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    if (this.#closing) throw new DatabaseUnavailableError('The database is closed')
    const use = this.#use(work)
    this.#uses.add(use)
    try {
      return await use
    } finally {
      this.#uses.delete(use)
    }
  }

  async #use<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw unreachable(error)
    })
    let spoiled = false
    try {
      return await work(client, () => {
        spoiled = true
      })
    } finally {
      client.release(spoiled)
    }
  }

  /** Waits until nothing is lent, then closes the connections. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#uses).then(() => this.#pool.end())
    return this.#closing
  }
}

/**
 * Opens a connection for work of one kind that takes long, without limits of time. It may write.
 * @throws DatabaseUnavailableError
 */
export async function connectAlone(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'botstead',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  })
  // The query that is running reports it.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(
      'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0; set extra_float_digits = 3',
    )
  } catch (error) {
    await client.end().catch(() => undefined)
    throw unreachable(error)
  }
  return client
}

interface TimedQuery extends pg.QueryConfig {
  /** Milliseconds to wait for the result; no limit if undefined. Unknown to the types of pg. */
  readonly query_timeout: number | undefined
}

/**
 * Sends one query. Without `timeout` (milliseconds) it may take for ever.
 * @throws DatabaseUnavailableError, DatabaseFullError or DatabaseBusyError; other errors as pg reports them
 */
export async function send(
  client: pg.ClientBase,
  query: pg.QueryConfig,
  timeout: number | undefined,
): Promise<pg.QueryResult> {
  const timed: TimedQuery = { ...query, query_timeout: timeout }
  try {
    return await client.query(timed)
  } catch (error) {
    throw toDatabaseError(error)
  }
}

/** Executes a query of Kysely. Without `timeout` (milliseconds) it may take for ever. */
export async function execute<R>(
  client: pg.ClientBase,
  { name, sql, parameters }: NamedQuery,
  timeout: number | undefined,
): Promise<QueryResult<R>> {
  const query = { name, text: sql, values: [...parameters] }
  const { command, rowCount, rows } = await send(client, query, timeout)
  if (command === 'SELECT' || rowCount === null) return { rows }
  return { rows, numAffectedRows: BigInt(rowCount) }
}

/** Whether the connection that a query failed on is of no further use. */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true
  // The statement was prepared before another process changed its table; a new connection prepares anew.
  return error instanceof pg.DatabaseError && error.code === '0A000'
}

/**
 * Maps a lock timeout, a full disk and the many forms of a lost connection to errors of ours; others
 * stay as they are.
 */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    if (error.code === '55P03') {
      return new DatabaseBusyError('A lock was not released in time', { cause: error })
    }
    if (postgresDialect.isFull(error)) {
      const message = 'The disk of the PostgreSQL server is full: make room there.'
      return new DatabaseFullError(message, { cause: error })
    }
    // Class 08: protocol or connection; 57P: shut down, crashed, or ended by an administrator.
    if (!/^(08|57P)/.test(error.code ?? '')) return error
  }
  // These are about a value that cannot be sent or received.
  if (error instanceof TypeError || error instanceof RangeError) return error
  return unreachable(error)
}

function unreachable(error: unknown): DatabaseUnavailableError {
  // A name with several addresses fails with an error that has no text, only parts.
  const reason =
    error instanceof AggregateError ? error.errors.map(textOf).join(', ') : textOf(error)
  return new DatabaseUnavailableError(
    `The PostgreSQL database of DATABASE_URL cannot be reached: ${reason}`,
    { cause: error },
  )
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// pg returns these as text, because they can exceed a number; the columns here never do.
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

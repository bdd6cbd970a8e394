import { setTimeout as sleep } from 'node:timers/promises'
import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type Transaction,
} from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import { postgresDialect } from './dialect.js'
import type { Database, DatabaseReads, OnCommit } from './engine.js'
import { CommitFailedError, DatabaseFullError, DatabaseUnavailableError } from './errors.js'
import { createHandles, type Handles, type SqlWriter } from './executor.js'
import { breaksConnection, ConnectionPool, execute, send } from './postgres-connection.js'
import type { Db, Schema, Tx } from './schema.js'
import { createNestingGuard, TransactionAttempt } from './transaction.js'

export interface PostgresOptions {
  /** Address of the database, `postgres://...`. */
  readonly url: string
  /** Maximum number of connections at a time. Default 10. */
  readonly poolSize?: number
  /** Milliseconds to wait for a lock or a free connection. Default 5,000. */
  readonly busyTimeout?: number
  /** Milliseconds one statement may take, or a transaction may be idle. Default 30,000. */
  readonly statementTimeout?: number
  readonly log?: Logger
  readonly onCommit?: OnCommit
}

/** Compiles queries to the SQL of PostgreSQL. */
export const postgresWriter: SqlWriter = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

const minVersion = 15
const maxTries = 6
/** Milliseconds between two log lines about lost connections. */
const lossLogIntervalMs = 1000
/**
 * Milliseconds to wait beyond the time limit of the server: without a response by then, the connection
 * is dead.
 */
const responseMargin = 5000
const begin = 'begin read write'
// By default each statement sees what is committed when it begins, and two of them may disagree.
const beginSnapshot = 'begin isolation level repeatable read read only'
// Any number will do, as long as every release uses the same one.
/** Advisory lock of those who change the schema. */
export const upgradeLock = 7_301_519_046
const beginUpgrade = [
  begin,
  'set local statement_timeout = 0',
  'set local lock_timeout = 0',
  'set local idle_in_transaction_session_timeout = 0',
  `select pg_advisory_xact_lock(${upgradeLock})`,
].join('; ')

/** Opens a pool of connections to PostgreSQL 15 or newer. Fails if the server cannot be reached. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, log, onCommit } = options
  const guard = createNestingGuard()
  let loggedAt = Number.NEGATIVE_INFINITY
  const { pool, timeout } = openPool(options, (err) => {
    // A server that stops ends all connections at once.
    if (performance.now() - loggedAt > lossLogIntervalMs)
      log?.warn({ err }, 'database connection lost')
    loggedAt = performance.now()
  })
  const handles = createHandles<Schema>(postgresWriter)
  const db = handles.reads(async (query) => {
    guard.refuse()
    return pool.lend(async (client, discard) => {
      try {
        return await execute(client, query, timeout)
      } catch (error) {
        if (breaksConnection(error)) discard()
        throw error
      }
    })
  })

  async function run<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const success = await transact(handles, begin, timeout, body).catch((error: unknown) => {
        if (tries === maxTries || !postgresDialect.isTransient(error)) throw error
      })
      if (success) {
        onCommit?.(success.commitMs)
        for (const callback of success.callbacks) callback()
        return success.value
      }
      // A random pause keeps two that clashed from clashing again.
      await sleep(Math.random() * 5 * 2 ** tries)
    }
  }

  /**
   * Tries a transaction once, on a connection of its own.
   * @param limit milliseconds that one statement may take; no limit if undefined
   * @returns its result, what is to be called because it is durable now, and how long its commit took
   */
  async function transact<DB, T>(
    ownHandles: Handles<DB>,
    beginning: string,
    limit: number | undefined,
    body: (tx: Transaction<DB>) => Promise<T>,
  ) {
    guard.refuse()
    return pool.lend(async (client, discard) => {
      const attempt = new TransactionAttempt(
        ownHandles,
        { execute: (query) => execute(client, query, limit) },
        { isAlone: true },
      )
      try {
        await send(client, { text: beginning }, limit)
        const value = await guard.run(attempt, body)
        const begunAt = performance.now()
        await commit(client, limit)
        return { value, callbacks: attempt.callbacks, commitMs: performance.now() - begunAt }
      } catch (error) {
        const isBroken = breaksConnection(attempt.failure?.error ?? error)
        if (isBroken || !(await rollback(client))) discard()
        throw error
      }
    })
  }

  async function upgrade<T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T> {
    const ownHandles = createHandles<unknown>(postgresWriter)
    const { value } = await transact(ownHandles, beginUpgrade, undefined, work)
    return value
  }

  async function check(): Promise<void> {
    await sql`select 1`.execute(db)
  }

  async function close(): Promise<void> {
    await pool.close()
    guard.end()
  }

  try {
    await requireVersion(db)
  } catch (error) {
    await pool.close()
    throw error
  }
  return {
    db,
    dialect: postgresDialect,
    file: undefined,
    url,
    run,
    upgrade,
    // PostgreSQL makes a transaction visible only once it is durable.
    durable: async () => {},
    foreignChanges: () => undefined,
    check,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Makes a pool, which connects at its first use, and the milliseconds in which it expects each response. */
function openPool(options: PostgresOptions, onLost: (error: Error) => void) {
  const { url, poolSize = 10, busyTimeout = 5000, statementTimeout = 30_000 } = options
  const pool = new ConnectionPool({ url, poolSize, busyTimeout, statementTimeout }, onLost)
  return { pool, timeout: statementTimeout + responseMargin }
}

/** Opens a pool of connections for reads only; the first read connects. */
export function openPostgresReads(options: PostgresOptions): DatabaseReads {
  // Whoever reads on a connection that is lost learns it from the query.
  const { pool, timeout } = openPool(options, () => {})
  const handles = createHandles<Schema>(postgresWriter)
  return {
    db: handles.reads((query) => pool.lend((client) => execute(client, query, timeout))),
    snapshot: (work) =>
      pool.lend(async (client, discard) => {
        let isBroken = false
        try {
          await send(client, { text: beginSnapshot }, timeout)
          return await work(handles.reads((query) => execute(client, query, timeout)))
        } catch (error) {
          isBroken = breaksConnection(error)
          throw error
        } finally {
          if (isBroken || !(await rollback(client))) discard()
        }
      }),
    close: () => pool.close(),
  }
}

async function commit(client: pg.PoolClient, timeout: number | undefined): Promise<void> {
  try {
    const { command } = await send(client, { text: 'commit' }, timeout)
    if (command === 'COMMIT') return
    // The server turns the commit of a failed transaction into a rollback, and calls it a success.
    throw new Error(`The server answered ${command}`)
  } catch (error) {
    if (postgresDialect.isTransient(error) || error instanceof DatabaseFullError) throw error
    if (error instanceof DatabaseUnavailableError) {
      const message = 'The connection broke during the commit: it is unknown whether it was stored'
      throw new DatabaseUnavailableError(message, { cause: error })
    }
    throw new CommitFailedError('The transaction could not be stored', { cause: error })
  }
}

async function rollback(client: pg.PoolClient): Promise<boolean> {
  try {
    await send(client, { text: 'rollback' }, responseMargin)
    return true
  } catch {
    return false
  }
}

async function requireVersion(db: Db): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::integer as version
  `.execute(db)
  const version = Math.floor((rows[0]?.version ?? 0) / 10_000)
  if (version >= minVersion) return
  throw new DatabaseUnavailableError(`PostgreSQL ${minVersion} is needed, the server is ${version}`)
}

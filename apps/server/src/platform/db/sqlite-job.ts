import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { refuseToStream } from './executor.js'
import type { SqliteConnection } from './sqlite-connection.js'
import { type TransactionFailure, TransactionGate } from './transaction-gate.js'

/** What a caller wants done in a transaction; the connection works until the gate closes. */
export type TransactionBody<T> = (
  connection: DatabaseConnection,
  gate: TransactionGate,
) => Promise<T>

/** One waiting transaction of a group commit. The type of its result is hidden. */
export interface SqliteJob {
  /** Whether it may use the disk reserve. */
  readonly mayUseReserve: boolean
  /** The same transaction, to be attempted anew; this one must not be settled then. */
  again(): SqliteJob
  /** Runs the body; never rejects, but resolves with the failure. */
  attempt(connection: SqliteConnection): Promise<TransactionFailure | undefined>
  /** Ends an attempt that cannot end by itself. */
  abort(error: Error): void
  /** Settles the promise of the caller with the outcome, or with `failure` because nothing was stored. */
  settle(failure?: Error): void
}

export function createSqliteJob<T>(
  body: TransactionBody<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
  mayUseReserve = false,
): SqliteJob {
  const gate = new TransactionGate()
  let deliver = () => {}
  let finish = (_failure: TransactionFailure | undefined) => {}

  function end(outcome: () => void, failure?: TransactionFailure): void {
    // What was aborted may still come to an end of its own, too late.
    if (gate.closed) return
    gate.close()
    deliver = outcome
    finish(failure)
  }

  function fail(error: unknown): void {
    end(() => reject(error), { error })
  }

  return {
    mayUseReserve,
    again: () => createSqliteJob(body, resolve, reject, mayUseReserve),
    attempt(connection) {
      return new Promise((done) => {
        finish = done
        body(new JobConnection(connection, gate), gate).then((value) => {
          if (gate.failure) fail(gate.failure.error)
          else end(() => resolve(value))
        }, fail)
      })
    },
    abort: fail,
    settle(failure) {
      if (failure) reject(failure)
      else deliver()
    },
  }
}

class JobConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection
  readonly #gate: TransactionGate
  readonly streamQuery = refuseToStream

  constructor(connection: SqliteConnection, gate: TransactionGate) {
    this.#connection = connection
    this.#gate = gate
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#gate.check()
    try {
      return this.#connection.execute<R>(query)
    } catch (error) {
      this.#gate.fail(error)
      throw error
    }
  }
}

import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { refuseToStream } from './executor.js'
import type { SqliteConnection } from './sqlite-connection.js'
import { type TransactionFailure, TransactionGate } from './transaction-gate.js'

/** What a caller wants done in a transaction; the connection works until the gate closes. */
export type TransactionBody<T> = (
  connection: DatabaseConnection,
  gate: TransactionGate,
) => Promise<T>

/** One waiting transaction of a group commit. The type of its answer stays inside. */
export interface SqliteJob {
  /** Whether it may use the room that is kept for deletions. */
  readonly freesRoom: boolean
  /** The same transaction, to be attempted anew; this one must not be settled then. */
  again(): SqliteJob
  /** Runs the body; never rejects, but answers what it failed with. */
  attempt(connection: SqliteConnection): Promise<TransactionFailure | undefined>
  /** Ends an attempt that cannot end by itself. */
  abort(error: Error): void
  /** Tells the caller the outcome of the attempt, or `failure` because nothing of it was stored. */
  settle(failure?: Error): void
}

export function createSqliteJob<T>(
  body: TransactionBody<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
  freesRoom = false,
): SqliteJob {
  const gate = new TransactionGate()
  let tell = () => {}
  let finish = (_failure: TransactionFailure | undefined) => {}

  function end(outcome: () => void, failure?: TransactionFailure): void {
    // What was aborted may still come to an end of its own, too late.
    if (gate.closed) return
    gate.close()
    tell = outcome
    finish(failure)
  }

  function fail(error: unknown): void {
    end(() => reject(error), { error })
  }

  return {
    freesRoom,
    again: () => createSqliteJob(body, resolve, reject, freesRoom),
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
      else tell()
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

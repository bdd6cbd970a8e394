import { setTimeout as sleep } from 'node:timers/promises'
import type { StatementSyncInstance } from '@photostructure/sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { sqliteDialect } from './dialect.js'
import { CommitFailedError, DatabaseBusyError, TransactionMisuseError } from './errors.js'
import type { SqliteConnection } from './sqlite-connection.js'
import { TransactionGate } from './transaction-gate.js'

/** What one caller wants done in a transaction. `connection` works until the promise settles. */
export type TransactionBody<T> = (connection: DatabaseConnection) => Promise<T>

export interface GroupCommitLimits {
  /** Transactions that may share one commit. */
  readonly maxBatch: number
  /** Milliseconds after which a batch takes no further transaction. */
  readonly maxBatchMilliseconds: number
  /** Milliseconds to wait for another process to release the file. */
  readonly busyTimeout: number
}

/** One transaction from the request to the answer; `T` stays inside. */
interface Job {
  /** Runs the body; never rejects. Answers whether its savepoint is to be kept. */
  attempt(gate: TransactionGate): Promise<boolean>
  /** Ends an attempt that cannot end by itself. */
  abort(error: Error): void
  /** Tells the caller how it ended: as its body did, or by `failure` if nothing was stored. */
  settle(failure?: Error): void
}

/**
 * Runs transactions one after another on one SQLite connection and commits all that wait together:
 * the cost of a durable commit is shared, while every transaction keeps its own savepoint. Nobody
 * hears of an outcome, good or bad, before the commit that everything he may have seen depends on.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #limits: GroupCommitLimits
  readonly #savepoint: StatementSyncInstance
  readonly #release: StatementSyncInstance
  readonly #rollbackTo: StatementSyncInstance
  readonly #queue: Job[] = []
  #active: Job | undefined
  #working: Promise<void> | undefined

  constructor(connection: SqliteConnection, limits: GroupCommitLimits) {
    this.#connection = connection
    this.#limits = limits
    this.#savepoint = connection.prepare('savepoint job')
    this.#release = connection.prepare('release job')
    this.#rollbackTo = connection.prepare('rollback to job')
  }

  /** Resolves with the answer of `body` once it is stored for good. */
  run<T>(body: TransactionBody<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push(createJob(this.#connection, body, resolve, reject))
      this.#working ??= this.#work()
    })
  }

  /** Resolves when no transaction runs or waits. */
  async idle(): Promise<void> {
    await this.#working
  }

  async #work(): Promise<void> {
    // The turn of the event loop ends first, so that all requests read in it share one commit.
    await nextTurn()
    while (this.#queue.length > 0) {
      const batch: Job[] = []
      try {
        await this.#begin()
        await this.#runBatch(batch)
      } catch (error) {
        // Without a first member the file could not be taken: that answers all who wait for it.
        if (batch.length === 0) batch.push(...this.#queue.splice(0))
        this.#abandon()
        const failure = error instanceof Error ? error : new Error(String(error))
        for (const job of batch) job.settle(failure)
      }
      await nextTurn()
    }
    this.#working = undefined
  }

  async #begin(): Promise<void> {
    const deadline = performance.now() + this.#limits.busyTimeout
    for (let pause = 1; ; pause = Math.min(pause * 2, 32)) {
      try {
        this.#connection.exec('begin immediate')
        return
      } catch (error) {
        if (!sqliteDialect.isTransient(error)) throw error
        if (performance.now() > deadline) {
          throw new DatabaseBusyError('Another process keeps the database locked', { cause: error })
        }
        await sleep(pause)
      }
    }
  }

  /** Runs what waits in `#queue`, moving it into `batch`, commits and answers. */
  async #runBatch(batch: Job[]): Promise<void> {
    const stopWatching = this.#watch()
    try {
      const end = performance.now() + this.#limits.maxBatchMilliseconds
      while (batch.length < this.#limits.maxBatch && performance.now() < end) {
        const job = this.#queue.shift()
        if (!job) break
        batch.push(job)
        await this.#runJob(job)
      }
    } finally {
      stopWatching()
    }
    try {
      this.#connection.exec('commit')
    } catch (error) {
      throw new CommitFailedError('The transaction could not be stored', { cause: error })
    }
    for (const job of batch) job.settle()
  }

  async #runJob(job: Job): Promise<void> {
    this.#savepoint.run()
    this.#active = job
    const keep = await job.attempt(new TransactionGate())
    this.#active = undefined
    if (!this.#connection.inTransaction) {
      throw new CommitFailedError('The database gave up the transaction')
    }
    if (!keep) this.#rollbackTo.run()
    this.#release.run()
  }

  /**
   * A body may only wait for its own queries, and these answer within the turn of the event loop.
   * If the loop turns while a body is unfinished, it waits for something else: for I/O that has no
   * place in a transaction, or for another transaction, and then for ever. It is ended at once.
   */
  #watch(): () => void {
    const look = () => {
      this.#active?.abort(
        new TransactionMisuseError(
          'A transaction waited for something other than its own queries: a nested run(), a timer or I/O',
        ),
      )
      watch = setImmediate(look)
    }
    let watch = setImmediate(look)
    return () => clearImmediate(watch)
  }

  #abandon(): void {
    this.#active = undefined
    if (this.#connection.inTransaction) this.#connection.exec('rollback')
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function createJob<T>(
  connection: SqliteConnection,
  body: TransactionBody<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Job {
  let answer = () => {}
  let abort: (error: Error) => void = () => {}
  return {
    attempt(gate) {
      return new Promise((finish) => {
        const end = (succeeded: boolean, tell: () => void) => {
          if (gate.closed) return
          gate.close()
          answer = tell
          finish(succeeded)
        }
        const fail = (error: unknown) => end(false, () => reject(error))
        abort = fail
        body(new JobConnection(connection, gate)).then((value) => {
          if (gate.failure) fail(gate.failure.error)
          else end(true, () => resolve(value))
        }, fail)
      })
    },
    abort: (error) => abort(error),
    settle(failure) {
      if (failure) reject(failure)
      else answer()
    },
  }
}

class JobConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection
  readonly #gate: TransactionGate

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

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new TransactionMisuseError('Rows are read in pages, not streamed')
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { StatementSyncInstance } from '@photostructure/sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { sqliteDialect } from './dialect.js'
import type { ReservedDeletions } from './disk-reserve.js'
import {
  CommitFailedError,
  DatabaseBusyError,
  DatabaseFullError,
  TransactionMisuseError,
} from './errors.js'
import { refuseToStream } from './executor.js'
import type { RunOptions } from './schema.js'
import { diskFullError, type SqliteConnection } from './sqlite-connection.js'
import { type TransactionFailure, TransactionGate } from './transaction-gate.js'

export interface GroupCommitLimits {
  /** Transactions that may share one commit. */
  readonly maxBatch: number
  /** Milliseconds after which a batch takes no further transaction. */
  readonly maxBatchMilliseconds: number
  /** Milliseconds to wait for another process to release the file. */
  readonly busyTimeout: number
}

/**
 * Runs transactions one after another on one SQLite connection and commits all that wait together:
 * the cost of a durable commit is shared, while every transaction keeps its own savepoint. No
 * outcome, good or bad, is returned before the commit of everything that it may be based on.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #limits: GroupCommitLimits
  readonly #reserve: ReservedDeletions | undefined
  readonly #savepoint: StatementSyncInstance
  readonly #release: StatementSyncInstance
  readonly #rollbackTo: StatementSyncInstance
  readonly #queue: QueuedTransaction[] = []
  #active: QueuedTransaction | undefined
  #working: Promise<void> | undefined

  /** @param reserve gives deletions space on a full disk; without it they are refused like all others */
  constructor(
    connection: SqliteConnection,
    limits: GroupCommitLimits,
    reserve?: ReservedDeletions,
  ) {
    this.#connection = connection
    this.#limits = limits
    this.#reserve = reserve
    this.#savepoint = connection.prepare('savepoint job')
    this.#release = connection.prepare('release job')
    this.#rollbackTo = connection.prepare('rollback to job')
  }

  /** Resolves with the result of `body` once it is durable. */
  run<T>(body: TransactionBody<T>, { mayUseReserve = false }: RunOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push(createQueuedTransaction(body, resolve, reject, mayUseReserve))
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
      await this.#transact()
      await nextTurn()
    }
    this.#working = undefined
  }

  /** Runs one physical transaction and settles all that took part. */
  async #transact(): Promise<void> {
    const reserve = this.#reserve
    const deletions = await this.#attempt(this.#queue, reserve !== undefined)
    if (reserve === undefined || deletions.length === 0) return
    try {
      await reserve.withReserve(async () => {
        while (deletions.length > 0) await this.#attempt(deletions, false)
      })
    } catch (error) {
      for (const queued of deletions) queued.settle(this.#toFailure(error))
    }
  }

  /**
   * Runs some of what waits in a queue and settles all that took part.
   * @param canUseReserve whether deletions that find the disk full are kept back for another attempt
   * @returns the deletions that were kept back, which are not settled yet
   */
  async #attempt(queue: QueuedTransaction[], canUseReserve: boolean): Promise<QueuedTransaction[]> {
    const batch: QueuedTransaction[] = []
    const keptBack: QueuedTransaction[] = []
    const keepBack = (queued: QueuedTransaction): boolean => {
      if (!canUseReserve || !queued.mayUseReserve) return false
      keptBack.push(queued.again())
      return true
    }
    try {
      await this.#begin()
      await this.#runBatch(queue, batch, keepBack)
      this.#connection.exec('commit')
    } catch (error) {
      // Without a first one the file could not be locked at all, and all that wait fail with it.
      if (batch.length === 0) batch.push(...queue.splice(0))
      this.#active = undefined
      this.#rollback()
      const failure = this.#toFailure(error)
      const isFull = failure instanceof DatabaseFullError
      for (const queued of batch) if (!(isFull && keepBack(queued))) queued.settle(failure)
      return keptBack
    }
    for (const queued of batch) queued.settle()
    return keptBack
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
      }
      await sleep(pause)
    }
  }

  #rollback(): void {
    if (!this.#connection.inTransaction) return
    try {
      this.#connection.exec('rollback')
    } catch {
      // Every later begin on this connection fails with the reason.
    }
  }

  /**
   * Moves what waits into `batch` and runs it, until nothing waits or the limits are reached. What
   * finds the disk full, and is taken by `keepBack`, is no part of the batch.
   */
  async #runBatch(
    queue: QueuedTransaction[],
    batch: QueuedTransaction[],
    keepBack: (queued: QueuedTransaction) => boolean,
  ): Promise<void> {
    const stopWatching = this.#watch()
    try {
      const end = performance.now() + this.#limits.maxBatchMilliseconds
      let queued = queue.shift()
      while (queued) {
        batch.push(queued)
        const failure = await this.#runQueued(queued)
        if (failure instanceof DatabaseFullError && keepBack(queued)) batch.pop()
        if (batch.length >= this.#limits.maxBatch || performance.now() >= end) break
        queued = queue.shift()
      }
    } finally {
      stopWatching()
    }
  }

  /** @returns the error of the transaction; undefined if it succeeded */
  async #runQueued(queued: QueuedTransaction): Promise<unknown> {
    this.#savepoint.run()
    this.#active = queued
    const failure = await queued.attempt(this.#connection)
    this.#active = undefined
    if (failure) {
      // After the worst errors, such as a full disk, SQLite may have rolled back all of the batch.
      if (!this.#connection.inTransaction) throw failure.error
      this.#rollbackTo.run()
    }
    this.#release.run()
    return failure?.error
  }

  #toFailure(cause: unknown): Error {
    if (cause instanceof DatabaseBusyError || cause instanceof DatabaseFullError) return cause
    if (this.#connection.isFull(cause)) return diskFullError(cause)
    const reason = cause instanceof Error ? cause.message : cause
    return new CommitFailedError(`The transaction could not be stored: ${reason}`, { cause })
  }

  /**
   * A body may only wait for its own queries, and these return within the turn of the event loop.
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
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What a caller wants done in a transaction; the connection works until the gate closes. */
type TransactionBody<T> = (connection: DatabaseConnection, gate: TransactionGate) => Promise<T>

/** One waiting transaction of a group commit. The type of its result is hidden. */
interface QueuedTransaction {
  /** Whether it may use the disk reserve. */
  readonly mayUseReserve: boolean
  /** The same transaction, to be attempted anew; this one must not be settled then. */
  again(): QueuedTransaction
  /** Runs the body; never rejects, but resolves with the failure. */
  attempt(connection: SqliteConnection): Promise<TransactionFailure | undefined>
  /** Ends an attempt that cannot end by itself. */
  abort(error: Error): void
  /** Settles the promise of the caller with the outcome, or with `failure` because nothing was stored. */
  settle(failure?: Error): void
}

function createQueuedTransaction<T>(
  body: TransactionBody<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
  mayUseReserve = false,
): QueuedTransaction {
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
    again: () => createQueuedTransaction(body, resolve, reject, mayUseReserve),
    attempt(connection) {
      return new Promise((done) => {
        finish = done
        body(new QueuedConnection(connection, gate), gate).then((value) => {
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

class QueuedConnection implements DatabaseConnection {
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

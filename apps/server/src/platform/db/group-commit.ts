import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { sqliteDialect } from './dialect.js'
import type { ReservedDeletions } from './disk-reserve.js'
import type { OnCommit } from './engine.js'
import {
  CommitFailedError,
  DatabaseBusyError,
  DatabaseFullError,
  DatabaseUnavailableError,
  TransactionMisuseError,
} from './errors.js'
import type { Handles } from './executor.js'
import type { LogSync } from './log-sync.js'
import type { RunOptions, Tx } from './schema.js'
import { diskFullError, type SqliteConnection } from './sqlite-connection.js'
import { mergeSums, type NestingGuard, storeSums, TransactionAttempt } from './transaction.js'

/** Bounds of a batch and of the wait for the file. */
export interface GroupCommitLimits {
  /** Transactions that may share one commit. */
  readonly maxBatch: number
  /** Milliseconds after which a batch takes no further transaction. */
  readonly maxBatchMilliseconds: number
  /** Milliseconds to wait for another process to release the file. */
  readonly busyTimeout: number
}

export interface GroupCommitOptions<DB> {
  connection: SqliteConnection
  handles: Handles<DB>
  limits: GroupCommitLimits
  /** Gives deletions space on a full disk; without it they are refused like all others. */
  reserve?: ReservedDeletions | undefined
  /** Makes commits durable, if the connection does not do so itself. */
  sync?: LogSync | undefined
  /** Called once for each commit that is durable. */
  onCommit?: OnCommit | undefined
  /** Detects a body that calls `run`; without it, such a body fails only because it waits. */
  guard?: NestingGuard | undefined
}

type Statement = ReturnType<SqliteConnection['prepare']>

/** A transaction that waits for its turn, and then for the commit of its batch. */
interface Member<DB, T = unknown> {
  /** Whether it may use the disk reserve. */
  readonly mayUseReserve: boolean
  body(tx: Transaction<DB>): Promise<T>
  /** These settle the promise that `run` waits for. */
  resolve(success: Success<T>): void
  reject(error: unknown): void
  /** Calls one of them with the outcome of the last attempt, after the commit. */
  settle?: () => void
}

interface Success<T> {
  readonly value: T
  /** To be called once the transaction is durable. */
  readonly callbacks: readonly (() => void)[]
}

/**
 * Runs transactions one after another on one SQLite connection and commits all that wait together:
 * the cost of a durable commit is shared, while every transaction keeps its own savepoint. No
 * outcome, good or bad, is returned before the commit of everything that it may be based on.
 */
export class GroupCommit<DB> {
  readonly #connection: SqliteConnection
  readonly #handles: Handles<DB>
  readonly #limits: GroupCommitLimits
  readonly #reserve: ReservedDeletions | undefined
  readonly #sync: LogSync | undefined
  readonly #onCommit: OnCommit | undefined
  readonly #guard: NestingGuard | undefined
  readonly #savepoint: Statement
  readonly #release: Statement
  readonly #rollbackTo: Statement
  readonly #queue: Member<DB>[] = []
  #working: Promise<void> | undefined
  /** Resolves once the last batch is settled, and with it all before. */
  #settling: Promise<void> | undefined
  #isClosed = false

  constructor(options: GroupCommitOptions<DB>) {
    const { connection } = options
    this.#connection = connection
    this.#handles = options.handles
    this.#limits = options.limits
    this.#reserve = options.reserve
    this.#sync = options.sync
    this.#onCommit = options.onCommit
    this.#guard = options.guard
    this.#savepoint = connection.prepare('savepoint job')
    this.#release = connection.prepare('release job')
    this.#rollbackTo = connection.prepare('rollback to job')
  }

  /** Resolves with the result of `body` once it is durable. */
  async run<T>(
    body: (tx: Transaction<DB>) => Promise<T>,
    { mayUseReserve = false }: RunOptions = {},
  ): Promise<T> {
    this.#guard?.refuse()
    if (this.#isClosed) throw new DatabaseUnavailableError('The database is closed')
    this.#sync?.requireIntact()
    const { value, callbacks } = await new Promise(
      (resolve: (success: Success<T>) => void, reject) => {
        this.#queue.push({ body, mayUseReserve, resolve, reject })
        this.#working ??= this.#commitWaiting()
      },
    )
    for (const callback of callbacks) callback()
    return value
  }

  /** Commits one batch after the other until nothing waits. */
  async #commitWaiting(): Promise<void> {
    // The turn of the event loop ends first, so that all requests read in it share one commit.
    await nextTurn()
    while (this.#queue.length > 0) {
      const deletions = await this.#commitBatch(this.#queue, this.#reserve !== undefined)
      if (this.#reserve !== undefined && deletions.length > 0)
        await this.#commitOnReserve(this.#reserve, deletions)
      await nextTurn()
    }
    this.#working = undefined
  }

  /**
   * Moves members from a queue into one physical transaction, until the queue is empty or the limits
   * are reached, commits it, and settles all that took part.
   * @param canUseReserve whether deletions that find the disk full are kept back for another attempt
   * @returns the deletions that were kept back, which are not settled yet
   */
  async #commitBatch(waiting: Member<DB>[], canUseReserve: boolean): Promise<Member<DB>[]> {
    const batch: Member<DB>[] = []
    const keptBack: Member<DB>[] = []
    const isKeptBack = (member: Member<DB>, error: unknown) =>
      canUseReserve && member.mayUseReserve && error instanceof DatabaseFullError
    const sums: TransactionAttempt<DB>['sums'] = new Map()
    let isLocked = false
    let begunAt = 0
    try {
      await this.#begin()
      isLocked = true
      const end = performance.now() + this.#limits.maxBatchMilliseconds
      for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
        batch.push(member)
        const failure = await this.#runMember(member, sums)
        if (failure && isKeptBack(member, failure.error)) keptBack.push(...batch.splice(-1))
        if (batch.length >= this.#limits.maxBatch || performance.now() >= end) break
      }
      await this.#store(sums)
      begunAt = performance.now()
      this.#connection.exec('commit')
    } catch (error) {
      this.#rollback()
      const failure = this.#toFailure(error)
      // If the file could not be locked at all, all that wait fail.
      for (const member of isLocked ? batch : waiting.splice(0)) {
        if (isKeptBack(member, failure)) keptBack.push(member)
        else member.reject(failure)
      }
      return keptBack
    }
    if (this.#sync === undefined) {
      this.#onCommit?.(performance.now() - begunAt)
      for (const { settle } of batch) settle?.()
    } else {
      this.#settling = this.#settleOnceDurable(batch, this.#sync.committed(), begunAt)
    }
    return keptBack
  }

  /** Settles a batch once it is durable. The next one does not wait: it is committed meanwhile. */
  async #settleOnceDurable(
    batch: readonly Member<DB>[],
    durable: Promise<void>,
    begunAt: number,
  ): Promise<void> {
    try {
      await durable
      this.#onCommit?.(performance.now() - begunAt)
      for (const { settle } of batch) settle?.()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /** Locks the file for writing, waiting without blocking for another process that holds it. */
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

  /**
   * Runs a member in a savepoint of its own. It may only wait for its own queries, and these return
   * within the turn of the event loop. If the loop turns before the member ends, it waits for something
   * else: for I/O, which has no place in a transaction, or for another transaction, which would take for
   * ever. It fails at once, and whatever its body still does is ignored.
   * @param sums what members that succeeded added to totals
   * @returns the error of the member, wrapped, because anything can be thrown; undefined if it succeeded
   */
  async #runMember<T>(
    member: Member<DB, T>,
    sums: TransactionAttempt<DB>['sums'],
  ): Promise<{ error: unknown } | undefined> {
    this.#savepoint.run()
    const attempt = new TransactionAttempt(this.#handles, this.#connection, { isAlone: false })
    let watch: NodeJS.Immediate | undefined
    let failure: { error: unknown } | undefined
    try {
      const value = await new Promise<T>((resolve, reject) => {
        watch = setImmediate(() => {
          reject(
            new TransactionMisuseError(
              'A transaction waited for something other than its own queries: a nested run(), a timer or I/O',
            ),
          )
        })
        const running = this.#guard
          ? this.#guard.run(attempt, member.body)
          : attempt.run(member.body)
        running.then(resolve, reject)
      })
      member.settle = () => member.resolve({ value, callbacks: attempt.callbacks })
      mergeSums(sums, attempt.sums)
    } catch (error) {
      attempt.closed = true
      // After the worst errors, such as a full disk, SQLite may have rolled back the whole batch.
      if (!this.#connection.inTransaction) throw error
      this.#rollbackTo.run()
      member.settle = () => member.reject(error)
      failure = { error }
    } finally {
      clearImmediate(watch)
    }
    this.#release.run()
    return failure
  }

  /** Stores what the members of a batch added to totals. Fails with the batch. */
  async #store(sums: TransactionAttempt<DB>['sums']): Promise<void> {
    if (sums.size === 0) return
    const failure = await this.#runMember(
      {
        mayUseReserve: false,
        // The tables of a handle are known to those who use it.
        body: (tx) => storeSums(tx as unknown as Tx, sums),
        resolve: () => {},
        reject: () => {},
      },
      new Map(),
    )
    if (failure !== undefined) throw failure.error
  }

  #rollback(): void {
    if (!this.#connection.inTransaction) return
    try {
      this.#connection.exec('rollback')
    } catch {
      // Every later begin on this connection fails with the reason.
    }
  }

  #toFailure(cause: unknown): Error {
    if (cause instanceof DatabaseBusyError || cause instanceof DatabaseFullError) return cause
    if (this.#connection.isFull(cause)) return diskFullError(cause)
    const reason = cause instanceof Error ? cause.message : cause
    return new CommitFailedError(`The transaction could not be stored: ${reason}`, { cause })
  }

  /** Commits deletions that found the disk full, and settles all of them. */
  async #commitOnReserve(space: ReservedDeletions, deletions: Member<DB>[]): Promise<void> {
    try {
      await space.withReserve(async () => {
        while (deletions.length > 0) await this.#commitBatch(deletions, false)
      })
    } catch (error) {
      for (const { reject } of deletions) reject(this.#toFailure(error))
    }
  }

  /** Refuses further transactions, and resolves when none runs or waits. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#working
    await this.#settling
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'
import type { CompiledQuery, QueryResult, Transaction } from 'kysely'
import { TransactionMisuseError } from './errors.js'
import type { Handles } from './executor.js'
import type { Tx } from './schema.js'

/** The connection that a transaction runs on. */
interface Connection {
  execute<R>(query: CompiledQuery): QueryResult<R> | Promise<QueryResult<R>>
}

/** Totals in the database, by their keys, that transactions add to. */
export interface Totals {
  /** Adds to each total what transactions that commit together added to it. Awaits queries of `tx` only. */
  store(tx: Tx, sums: ReadonlyMap<string, number>): Promise<void>
}

/** What is added to the totals of each kind, by key. */
type Sums = Map<Totals, Map<string, number>>

/**
 * One attempt at a transaction, on either engine: what happens between its begin and its commit. A
 * failed query dooms it, as PostgreSQL demands: a body that swallows the error must not half succeed.
 */
export class TransactionAttempt<DB> {
  /** Whether it takes no more queries: its body has ended, or was given up. */
  closed = false
  /** The error of the first query that failed; wrapped, because anything can be thrown. */
  failure: { readonly error: unknown } | undefined
  /** Work to do before the commit, in order. */
  readonly lastWork: (() => Promise<void>)[] = []
  /** Work to do after that, in order, which adds no more to the work before it. */
  readonly finalWork: (() => Promise<void>)[] = []
  /** Whether its last work is done, and the final work runs. */
  isFinal = false
  /** What is added to totals, and stored before the commit. */
  readonly sums: Sums = new Map()
  /** Called in order once the transaction is durable. */
  readonly callbacks: (() => void)[] = []
  readonly #handles: Handles<DB>
  readonly #connection: Connection
  readonly #isAlone: boolean

  /** @param options whether it commits alone, and so stores what it added to totals itself */
  constructor(handles: Handles<DB>, connection: Connection, options: { isAlone: boolean }) {
    this.#handles = handles
    this.#connection = connection
    this.#isAlone = options.isAlone
  }

  /**
   * Runs the body, and then its last work. Rejects with the error of either, or with that of a query
   * whose error they swallowed.
   */
  async run<T>(body: (tx: Transaction<DB>) => Promise<T>): Promise<T> {
    // Not a field: minor garbage collections keep the values of a weak map, and all that they refer
    // to. The attempt is such a value, and a field would keep its own key alive.
    const tx = this.#handles.transaction(this.#execute)
    attempts.set(tx, this)
    try {
      const value = await body(tx)
      for (const work of this.lastWork) await work()
      this.isFinal = true
      for (const work of this.finalWork) await work()
      // The tables of a handle are known to those who use it.
      if (this.#isAlone) await storeSums(tx as unknown as Tx, this.sums)
      if (this.failure) throw this.failure.error
      return value
    } finally {
      this.closed = true
    }
  }

  /**
   * Executes a query of the handle, which calls it without `this`. Not an async function, which would make
   * two more promises of a query that SQLite has executed already.
   */
  readonly #execute = <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
    const misuse = this.#misuse()
    if (misuse !== undefined) return Promise.reject(misuse)
    try {
      const result = this.#connection.execute<R>(query)
      return result instanceof Promise ? result.catch(this.#fail) : Promise.resolve(result)
    } catch (error) {
      this.failure ??= { error }
      return Promise.reject(error)
    }
  }

  readonly #fail = (error: unknown): never => {
    this.failure ??= { error }
    throw error
  }

  /** The reason why the transaction accepts no queries, if it does not. */
  #misuse(): TransactionMisuseError | undefined {
    if (this.closed) {
      return new TransactionMisuseError(
        'The transaction has ended: await every query inside its body',
      )
    }
    if (this.failure === undefined) return undefined
    return new TransactionMisuseError(
      'A query of this transaction failed before: it can only end',
      { cause: this.failure.error },
    )
  }
}

/** The attempt behind each handle that `run` passed to a body. */
const attempts = new WeakMap<
  object,
  Pick<
    TransactionAttempt<unknown>,
    'closed' | 'isFinal' | 'lastWork' | 'finalWork' | 'callbacks' | 'sums'
  >
>()

/**
 * Calls `callback` once the transaction is durable, before its `run` resolves; not at all if it is
 * rolled back. For wake-up hints, which must not be early: their receivers must find the committed rows.
 * `callback` must not throw. `tx` is the handle that `run` passed, not one derived from it.
 */
export function afterCommit(tx: Tx, callback: () => void): void {
  const attempt = attempts.get(tx)
  if (!attempt) {
    throw new TransactionMisuseError(
      'Only the handle that run() gave can be followed to its commit',
    )
  }
  attempt.callbacks.push(callback)
}

/**
 * Runs `work` at the end of the transaction, before it commits; if it fails, everything is rolled back.
 * For rows that many transactions lock: locked at the end and in one order, they are held only briefly
 * and cannot deadlock. `work` awaits queries of `tx` only, the handle that `run` passed.
 */
export function beforeCommit(tx: Tx, work: () => Promise<void>): void {
  const attempt = requireOpen(tx)
  if (attempt.isFinal) {
    throw new TransactionMisuseError('The work before the commit is done: add it earlier')
  }
  attempt.lastWork.push(work)
}

/**
 * Adds to a total in the transaction, without reading it: once for all transactions that commit together, on SQLite, and at
 * the end of the transaction on PostgreSQL. Nothing is added by a transaction that is rolled back.
 */
export function addToTotal(tx: Tx, totals: Totals, key: string, amount: number): void {
  addTo(requireOpen(tx).sums, totals, key, amount)
}

function addTo(sums: Sums, totals: Totals, key: string, amount: number): void {
  const known = sums.get(totals) ?? new Map<string, number>()
  sums.set(totals, known.set(key, (known.get(key) ?? 0) + amount))
}

/** Adds what one transaction added to what others did. */
export function mergeSums(into: Sums, from: Sums): void {
  for (const [totals, sums] of from) {
    for (const [key, amount] of sums) addTo(into, totals, key, amount)
  }
}

/** Stores what was added, in the order of keys, so that transactions which do so at once cannot deadlock. */
export async function storeSums(tx: Tx, all: Sums): Promise<void> {
  for (const [totals, sums] of all) await totals.store(tx, new Map([...sums].sort()))
}

/** The same, after all work of `beforeCommit`: for a row that is locked after all others. */
export function justBeforeCommit(tx: Tx, work: () => Promise<void>): void {
  requireOpen(tx).finalWork.push(work)
}

function requireOpen(tx: Tx) {
  const attempt = attempts.get(tx)
  // Work that is added after the end would come too late, and is refused instead of lost.
  if (!attempt || attempt.closed) {
    throw new TransactionMisuseError(
      'Only the handle that run() gave, before its transaction ends, can be followed to its commit',
    )
  }
  return attempt
}

/** Detects code that leaves its transaction: it opens another one, or reads outside of it. */
export interface NestingGuard {
  /** Runs an attempt so that `refuse` knows what is called from inside. */
  run<DB, T>(attempt: TransactionAttempt<DB>, body: (tx: Transaction<DB>) => Promise<T>): Promise<T>
  /** Throws if the caller is the body of a transaction that has not ended. */
  refuse(): void
  /** To be called when the database is closed: stops following promises. */
  end(): void
}

/**
 * Makes a guard. It follows every promise of the process, which costs a fifth of the time of a small
 * SQLite transaction.
 */
export function createNestingGuard(): NestingGuard {
  const current = new AsyncLocalStorage<{ readonly closed: boolean }>()
  return {
    run: (attempt, body) => current.run(attempt, () => attempt.run(body)),
    refuse() {
      // Timers and the like that a body leaves behind outlive it and are free again.
      if (current.getStore()?.closed !== false) return
      throw new TransactionMisuseError(
        'Inside a transaction only its own tx may be used: neither run() nor the outer db',
      )
    },
    end: () => current.disable(),
  }
}

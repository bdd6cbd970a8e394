import { TransactionMisuseError } from './errors.js'
import type { Run, Tx } from './schema.js'

const callbacksOf = new WeakMap<Tx, (() => void)[]>()
const lastWorkOf = new WeakMap<Tx, (() => Promise<void>)[]>()

/**
 * Calls `callback` once the transaction is durable, before its `run` resolves; not at all if it is
 * rolled back. For wake-up hints, which must not be early: whoever is woken must find what was committed.
 * `callback` must not throw. `tx` is the handle that `run` gave, not one derived from it.
 */
export function afterCommit(tx: Tx, callback: () => void): void {
  const callbacks = callbacksOf.get(tx)
  if (!callbacks) {
    throw new TransactionMisuseError(
      'Only the handle that run() gave can be followed to its commit',
    )
  }
  callbacks.push(callback)
}

/**
 * Does `work` as the last of the transaction, before it commits; an error of it rolls all back. For
 * rows that many transactions lock: those that are locked at the end, in one order, are held shortly
 * and never crosswise. `work` awaits queries of `tx` only, the handle that `run` gave.
 */
export function beforeCommit(tx: Tx, work: () => Promise<void>): void {
  const lastWork = lastWorkOf.get(tx)
  if (!lastWork) {
    throw new TransactionMisuseError(
      'Only the handle that run() gave, before its transaction ends, can be followed to its commit',
    )
  }
  lastWork.push(work)
}

/** Makes {@link afterCommit} and {@link beforeCommit} work for the transactions of `run`. */
export function withCommitHooks(run: Run): Run {
  return async (work, options) => {
    // Of several attempts at one transaction, only the last was committed.
    let callbacks: (() => void)[] = []
    const value = await run(async (tx) => {
      callbacks = []
      callbacksOf.set(tx, callbacks)
      return await withLastWork(tx, () => work(tx))
    }, options)
    for (const callback of callbacks) callback()
    return value
  }
}

async function withLastWork<T>(tx: Tx, body: () => Promise<T>): Promise<T> {
  const lastWork: (() => Promise<void>)[] = []
  lastWorkOf.set(tx, lastWork)
  const value = await body()
  for (const work of lastWork) await work()
  // Work that is added after this would come too late, and is refused instead of lost.
  lastWorkOf.delete(tx)
  return value
}

import { TransactionMisuseError } from './errors.js'
import type { Run, Tx } from './schema.js'

const waiting = new WeakMap<Tx, (() => void)[]>()

/**
 * Calls `callback` once the transaction is durable, before its `run` resolves; not at all if it is
 * rolled back. For wake-up hints, which must not be early: whoever follows one reads what is committed.
 * `callback` must not throw. `tx` is the handle that `run` gave, not one derived from it.
 */
export function afterCommit(tx: Tx, callback: () => void): void {
  const callbacks = waiting.get(tx)
  if (!callbacks) {
    throw new TransactionMisuseError(
      'Only the handle that run() gave can be followed to its commit',
    )
  }
  callbacks.push(callback)
}

/** Makes {@link afterCommit} work for the transactions of `run`. */
export function followCommits(run: Run): Run {
  return async (work, options) => {
    // Of several attempts at one transaction, only the last was committed.
    let callbacks: (() => void)[] = []
    const value = await run((tx) => {
      callbacks = []
      waiting.set(tx, callbacks)
      return work(tx)
    }, options)
    for (const callback of callbacks) callback()
    return value
  }
}

import { TransactionMisuseError } from './errors.js'
import type { Run, Tx } from './schema.js'

const waiting = new WeakMap<Tx, (() => Promise<void>)[]>()

/**
 * Does `work` as the last of the transaction, before it commits; an error of it rolls all back. For
 * rows that many transactions lock: those that are locked at the end, in one order, are held shortly
 * and never crosswise. `work` awaits queries of `tx` only, the handle that `run` gave.
 */
export function beforeCommit(tx: Tx, work: () => Promise<void>): void {
  const last = waiting.get(tx)
  if (!last) {
    throw new TransactionMisuseError(
      'Only the handle that run() gave, before its transaction ends, can be followed to its commit',
    )
  }
  last.push(work)
}

/** Makes {@link beforeCommit} work for the transactions of `run`. */
export function prepareCommits(run: Run): Run {
  return (body, options) =>
    run(async (tx) => {
      const last: (() => Promise<void>)[] = []
      waiting.set(tx, last)
      const value = await body(tx)
      for (const work of last) await work()
      // What would be asked for now came too late, and would be lost without a word.
      waiting.delete(tx)
      return value
    }, options)
}

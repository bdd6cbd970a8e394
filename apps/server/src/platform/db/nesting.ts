import { AsyncLocalStorage } from 'node:async_hooks'
import { TransactionMisuseError } from './errors.js'
import type { TransactionGate } from './transaction-gate.js'

/** Notices code that leaves its transaction: that opens another one or reads outside of it. */
export interface NestingGuard {
  /** Runs the body of a transaction so that `refuse` knows what is called from inside. */
  inside<T>(gate: TransactionGate, body: () => Promise<T>): Promise<T>
  /** Throws if the caller is the body of a transaction that has not ended. */
  refuse(): void
}

/** Notices nothing and costs nothing. */
export const noGuard: NestingGuard = {
  inside: (_gate, body) => body(),
  refuse() {},
}

/** Follows every promise of the process, which costs a fifth of a small SQLite transaction. */
export function createNestingGuard(): NestingGuard {
  const gates = new AsyncLocalStorage<TransactionGate>()
  return {
    inside: (gate, body) => gates.run(gate, body),
    refuse() {
      // Timers and the like that a body leaves behind outlive it and are free again.
      if (gates.getStore()?.closed !== false) return
      throw new TransactionMisuseError(
        'Inside a transaction only its own tx may be used: neither run() nor the outer db',
      )
    },
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { TransactionMisuseError } from './errors.js'

/** What a transaction failed with; wrapped, because anything can be thrown. */
export interface TransactionFailure {
  readonly error: unknown
}

/**
 * Says whether a transaction still takes queries. A failed query dooms its transaction on both
 * engines, as PostgreSQL demands: a body that swallows the error must not half succeed.
 */
export class TransactionGate {
  #closed = false
  #failure: TransactionFailure | undefined

  get closed(): boolean {
    return this.#closed
  }

  /** The error of the first query that failed. */
  get failure(): TransactionFailure | undefined {
    return this.#failure
  }

  /** Throws unless a query may run now. */
  check(): void {
    if (this.#closed) {
      throw new TransactionMisuseError(
        'The transaction has ended: await every query inside its body',
      )
    }
    if (this.#failure) {
      throw new TransactionMisuseError(
        'A query of this transaction failed before: it can only end',
        {
          cause: this.#failure.error,
        },
      )
    }
  }

  fail(error: unknown): void {
    this.#failure ??= { error }
  }

  close(): void {
    this.#closed = true
  }
}

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

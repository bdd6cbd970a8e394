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

/** Answers remembered for requests that carried an `Idempotency-Key`. */
interface IdempotencyTable {
  /** SHA-256 over principal, operation and key: no credential is stored. */
  id: string
  /** SHA-256 over path and body: the same key with another request is refused. */
  fingerprint: string
  status: number
  /** The answer, sealed: it can hold a credential that is shown once. */
  answer: string
  expires_at: string
}

export interface IdempotencySchema {
  idempotency_keys: IdempotencyTable
}

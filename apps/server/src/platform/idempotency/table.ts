/** Responses remembered for requests that carried an `Idempotency-Key`. */
export interface IdempotencyTable {
  /** SHA-256 over principal, operation and key: no credential is stored. */
  id: string
  /** SHA-256 over path and body: the same key with another request is refused. */
  fingerprint: string
  status: number
  /** The response, sealed: it can hold a credential that is shown once. */
  answer: string
  expires_at: string
}

declare module '../db/schema.js' {
  interface Schema {
    idempotency_keys: IdempotencyTable
  }
}

/** Why a call to another server got no answer. */
export type OutgoingFailure =
  /** The address is not one that may be called. */
  | 'refused'
  /** The name is unknown, or nobody listens, or the connection broke. */
  | 'connection'
  /** No answer in time. */
  | 'timeout'

/** A call to another server that got no answer; the message is for the operator of the address. */
export class OutgoingError extends Error {
  override name = 'OutgoingError'
  readonly failure: OutgoingFailure

  constructor(failure: OutgoingFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** The browser that makes a call, as far as sign-in must know it. */
export interface Browser {
  /** Id of the operation that it calls, for the audit log. */
  readonly operation: string
  /** Its network address as limits count it: of IPv6 the network of 64 bits. */
  readonly address: string
  /** Whether it is on this machine, where a proxy that is not trusted may stand for everybody. */
  readonly isLocal: boolean
  /** Its header `User-Agent`; empty if there is none. */
  readonly userAgent: string
  /** The secret that a sign-in left in it; undefined in one that did not sign in before. */
  readonly device: string | undefined
  /** The secret of a sign-in or passkey that was begun in it, and is not finished; undefined without one. */
  readonly signOn: string | undefined
  /** The session that it has now; undefined without one. */
  readonly session: string | undefined
}

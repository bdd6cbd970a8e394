/** Where a receiver listens, and what every call to it carries. */
export interface Target {
  url: string
  /** Headers that identify the receiver and carry its configuration. */
  headers: Readonly<Record<string, string>>
  /** Secrets that sign the calls, the newest first; the older one while they are rotated. */
  secrets: readonly string[]
  /** Milliseconds that it may take for a response. */
  timeoutMs: number
  /**
   * Whether it is the webhook of an app, which gets bodies without the headers of operations. It does
   * not support pings either: while it is paused, its oldest delivery is tried instead.
   */
  plain?: boolean
}

/**
 * Says that something was added to a log that others follow. The log is the truth: a hint that is
 * lost costs time until the next look, one that comes twice costs a look for nothing.
 */
export interface Hint {
  /** Kind of log, a fixed name such as `conversation`. */
  readonly topic: string
  /** Id of the log within its topic, made by the server. */
  readonly key: string
  /** Highest sequence that can be read now; absent when the publisher does not know it. */
  readonly seq?: number
}

/** The logs to listen to: one log, or without a key every log of the topic. */
export interface Subscription {
  readonly topic: string
  readonly key?: string
}

/** Both are called after the publisher's own code has run; what they throw is logged. */
export interface HintListener {
  /** Hints of one turn of the event loop about one log arrive as one, with the highest sequence. */
  onHint(hint: Hint): void
  /** Hints may have been lost: whatever is followed must be read again. */
  onGap(): void
}

/** Wakes those who follow a log, in this process and where the driver reaches in others. */
export interface EventBus extends AsyncDisposable {
  /** Sends a hint and forgets it: never throws, never waits. Call it after the commit. */
  publish(hint: Hint): void

  /** Starts listening at once and returns a function that stops it, which may be called twice. */
  subscribe(subscription: Subscription, listener: HintListener): () => void
}

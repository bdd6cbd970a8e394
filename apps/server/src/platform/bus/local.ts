import type { Log } from '../telemetry/log.js'
import type { EventBus, Hint, HintListener, Subscription } from './event-bus.js'
import { PendingHints } from './pending-hints.js'
import { Subscribers } from './subscribers.js'

/** A bus that ends at the process: all that is needed where one process does everything. */
export function createLocalBus(log: Log): EventBus {
  return new LocalBus(log)
}

/** Also the part of every other bus that serves its own process, hence the way to tell of a gap. */
export class LocalBus implements EventBus {
  readonly #subscribers: Subscribers
  readonly #pending = new PendingHints()

  constructor(log: Log) {
    this.#subscribers = new Subscribers(log)
  }

  publish(hint: Hint): void {
    if (!this.#subscribers.want(hint)) return
    if (this.#pending.size === 0) queueMicrotask(() => this.#deliver())
    this.#pending.add(hint)
  }

  subscribe(subscription: Subscription, listener: HintListener): () => void {
    return this.#subscribers.add(subscription, listener)
  }

  /** Tells every listener that hints may have been lost. */
  tellGap(): void {
    this.#subscribers.tellGap()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscribers.clear()
  }

  #deliver(): void {
    for (const hint of this.#pending.take()) this.#subscribers.deliver(hint)
  }
}

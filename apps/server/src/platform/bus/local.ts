import type { Log } from '../telemetry/log.js'
import type { EventBus, Hint, HintListener, Subscription } from './event-bus.js'

/** A bus that ends at the process: all that is needed where one process does everything. */
export function createLocalBus(log: Log): EventBus {
  return new LocalBus(log)
}

/** Also the part of every other bus that serves its own process, which is why it can report a gap. */
export class LocalBus implements EventBus {
  readonly #subscribers: Subscribers
  readonly #pending = new PendingHints()

  constructor(log: Log) {
    this.#subscribers = new Subscribers(log)
  }

  publish(hint: Hint): void {
    if (!this.#subscribers.hasListeners(hint)) return
    if (this.#pending.size === 0) queueMicrotask(() => this.#deliver())
    this.#pending.add(hint)
  }

  subscribe(subscription: Subscription, listener: HintListener): () => void {
    return this.#subscribers.add(subscription, listener)
  }

  /** Notifies every listener that hints may have been lost. */
  reportGap(): void {
    this.#subscribers.reportGap()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscribers.clear()
  }

  #deliver(): void {
    for (const hint of this.#pending.take()) this.#subscribers.deliver(hint)
  }
}

/** One subscription; an object of its own, because a listener may subscribe more than once. */
interface Entry {
  readonly listener: HintListener
}

interface Topic {
  readonly everyKey: Set<Entry>
  readonly byKey: Map<string, Set<Entry>>
}

/** The listeners in this process. The time to find those of a hint does not depend on their number. */
export class Subscribers {
  readonly #topics = new Map<string, Topic>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  add({ topic: name, key }: Subscription, listener: HintListener): () => void {
    const topic = this.#topics.get(name) ?? { everyKey: new Set(), byKey: new Map() }
    this.#topics.set(name, topic)
    const entry = { listener }
    if (key === undefined) {
      topic.everyKey.add(entry)
      return () => void topic.everyKey.delete(entry)
    }
    const entries = topic.byKey.get(key) ?? new Set()
    topic.byKey.set(key, entries.add(entry))
    return () => {
      // Nothing may stay behind for a key: there is one for every conversation ever listened to.
      if (entries.delete(entry) && entries.size === 0) topic.byKey.delete(key)
    }
  }

  /** Whether anyone listens for the hint. */
  hasListeners({ topic, key }: Hint): boolean {
    const found = this.#topics.get(topic)
    return found !== undefined && (found.everyKey.size > 0 || found.byKey.has(key))
  }

  deliver(hint: Hint): void {
    const topic = this.#topics.get(hint.topic)
    if (!topic) return
    this.#call(topic.byKey.get(hint.key), ({ listener }) => listener.onHint(hint))
    this.#call(topic.everyKey, ({ listener }) => listener.onHint(hint))
  }

  reportGap(): void {
    for (const { everyKey, byKey } of this.#topics.values()) {
      for (const entries of [everyKey, ...byKey.values()]) {
        this.#call(entries, ({ listener }) => listener.onGap())
      }
    }
  }

  clear(): void {
    this.#topics.clear()
  }

  #call(entries: Iterable<Entry> | undefined, call: (entry: Entry) => void): void {
    // A copy: listeners come and go while they are called.
    for (const entry of [...(entries ?? [])]) {
      try {
        call(entry)
      } catch (err) {
        this.#log.error({ err }, 'a listener of the event bus failed')
      }
    }
  }
}

/** Hints that wait to be passed on, one for each log. */
export class PendingHints {
  readonly #hints = new Map<string, Hint>()
  readonly #limit: number
  #hasDropped = false

  /** @param limit how many logs are remembered; hints about more are dropped */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  get size(): number {
    return this.#hints.size
  }

  add(hint: Hint): void {
    const id = `${hint.topic}\n${hint.key}`
    const earlier = this.#hints.get(id)
    if (earlier) this.#hints.set(id, merge(earlier, hint))
    else if (this.#hints.size < this.#limit) this.#hints.set(id, hint)
    else this.#hasDropped = true
  }

  /** Notes that hints were dropped. */
  drop(): void {
    this.#hasDropped = true
  }

  /** Whether hints were dropped since the last call. */
  takeDropped(): boolean {
    const hasDropped = this.#hasDropped
    this.#hasDropped = false
    return hasDropped
  }

  /** All hints in the order of their first mention; none are left. */
  take(): Hint[] {
    const hints = [...this.#hints.values()]
    this.#hints.clear()
    return hints
  }
}

/** A hint without a sequence means to read in any case, so it wins over those that have one. */
function merge(one: Hint, other: Hint): Hint {
  if (one.seq === undefined) return one
  return other.seq === undefined || other.seq > one.seq ? other : one
}

import type { Log } from '../telemetry/log.js'
import type { Hint, HintListener, Subscription } from './event-bus.js'

/** One subscription; an object of its own, because a listener may subscribe more than once. */
interface Entry {
  readonly listener: HintListener
}

interface Topic {
  readonly everyKey: Set<Entry>
  readonly byKey: Map<string, Set<Entry>>
}

/** Who in this process listens to what. Finding the listeners of a hint does not depend on their number. */
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

  /** Whether anybody would hear the hint. */
  want({ topic, key }: Hint): boolean {
    const found = this.#topics.get(topic)
    return found !== undefined && (found.everyKey.size > 0 || found.byKey.has(key))
  }

  deliver(hint: Hint): void {
    const topic = this.#topics.get(hint.topic)
    if (!topic) return
    this.#call(topic.byKey.get(hint.key), ({ listener }) => listener.onHint(hint))
    this.#call(topic.everyKey, ({ listener }) => listener.onHint(hint))
  }

  tellGap(): void {
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

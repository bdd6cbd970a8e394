import type { EventBus } from '../../../platform/bus/event-bus.js'
import type { Clock } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Timers } from '../../../platform/timers.js'
import type { Render, Room } from './entry.js'
import { Feed } from './feed.js'
import type { Listener } from './listener.js'

export interface FeedDeps {
  db: Db
  bus: EventBus
  clock: Clock
  timers: Timers
  log: Log
  render: Render
  /** Number of the first piece of a message that a bot is still writing; undefined if there is none. */
  firstOpenPiece(room: Room): Promise<number | undefined>
}

const tickMilliseconds = 1000
/** Milliseconds for which a feed is kept without listeners, for those who are about to come. */
const lingerMilliseconds = 5000

/** The conversations that are listened to in this process, each followed once. */
export class Feeds {
  readonly #deps: FeedDeps
  readonly #feeds = new Map<string, Feed>()
  #cancelTick: (() => void) | undefined

  constructor(deps: FeedDeps) {
    this.#deps = deps
  }

  get all(): Iterable<Feed> {
    return this.#feeds.values()
  }

  /** Everybody who listens. */
  *listeners(): Iterable<Listener> {
    for (const feed of this.#feeds.values()) yield* feed.listeners
  }

  find(conversationId: string): Feed | undefined {
    return this.#feeds.get(conversationId)
  }

  /** The feed of a conversation, once it has reached the present. Rejects if the log cannot be read. */
  async open(room: Room): Promise<Feed> {
    let feed = this.#feeds.get(room.id)
    if (feed === undefined) {
      feed = new Feed(this.#deps, room)
      this.#feeds.set(room.id, feed)
      this.#cancelTick ??= this.#deps.timers.after(tickMilliseconds, () => this.#tick())
    }
    feed.touch()
    try {
      await feed.ready
    } catch (error) {
      this.#drop(feed)
      throw error
    }
    return feed
  }

  close(): void {
    this.#cancelTick?.()
    this.#cancelTick = undefined
    for (const feed of [...this.#feeds.values()]) this.#drop(feed)
  }

  #drop(feed: Feed): void {
    if (this.#feeds.get(feed.room.id) === feed) this.#feeds.delete(feed.room.id)
    feed.close()
  }

  /** One timer for all feeds; none when there are no feeds. */
  #tick(): void {
    const now = this.#deps.clock.now()
    for (const feed of [...this.#feeds.values()]) {
      if (feed.idleFor(now) >= lingerMilliseconds) this.#drop(feed)
      else feed.tick(now)
    }
    this.#cancelTick =
      this.#feeds.size === 0
        ? undefined
        : this.#deps.timers.after(tickMilliseconds, () => this.#tick())
  }
}

import type { FollowedConversation } from './entry.js'
import { Feed, type FeedDeps } from './feed.js'

const tickMilliseconds = 1000
/**
 * Milliseconds for which a feed is kept without listeners, for subscribers that are about to join.
 */
const lingerMilliseconds = 10_000

/** The feeds of the conversations with listeners in this process, one for each conversation. */
export class Feeds {
  readonly #deps: FeedDeps
  readonly #feeds = new Map<string, Feed>()
  #cancelTick: (() => void) | undefined

  constructor(deps: FeedDeps) {
    this.#deps = deps
  }

  find(conversationId: string): Feed | undefined {
    return this.#feeds.get(conversationId)
  }

  /** The feed of a conversation, once it has reached the present. Rejects if the log cannot be read. */
  async open(conversation: FollowedConversation): Promise<Feed> {
    let feed = this.#feeds.get(conversation.id)
    if (feed === undefined) {
      feed = new Feed(this.#deps, conversation)
      this.#feeds.set(conversation.id, feed)
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
    if (this.#feeds.get(feed.conversation.id) === feed) this.#feeds.delete(feed.conversation.id)
    feed.close()
  }

  /** One timer for all feeds; none without feeds. */
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

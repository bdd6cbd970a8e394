import type { EventBus } from '../../../platform/bus/event-bus.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { eventsTopic } from '../../../platform/events/publisher.js'
import { readEvents, sequenceBefore } from '../../../platform/events/read.js'
import { Frame } from '../../../platform/streams/frame.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { signalKey, type Tracing } from '../../../platform/telemetry/tracing.js'
import type { Beside, Entry, FollowedConversation, Render } from './entry.js'
import { endUnlessParticipant, type Listener, untilReady } from './listener.js'
import { OpenStreams } from './open-streams.js'

export interface FeedDeps {
  db: Db
  bus: EventBus
  clock: Clock
  timers: Timers
  log: Log
  render: Render
  /** Undefined for protocols in which all signals are in the log. */
  beside?: Beside | undefined
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
  /** Log number of the first piece of the messages in progress; undefined if there is none. */
  firstOpenPiece(conversation: FollowedConversation): Promise<number | undefined>
}

/** Milliseconds of events before its subscription that a new listener gets. */
const recentMilliseconds = 500
/** Milliseconds for which entries are kept: longer, for listeners that are still subscribing. */
const keptMilliseconds = 10_000
/** Entries kept at most. */
const maxKept = 1000
/** Milliseconds after which the log is read without a hint. */
const pollMilliseconds = 15_000
const pageSize = 100
/** Bytes that may be pending while a listener catches up. */
const maxPendingCatchUp = 65_536

/**
 * Follows the log of one conversation for all of its listeners in this process. An event is read
 * and serialised once for all of them. Hints only trigger reads.
 */
export class Feed {
  readonly conversation: FollowedConversation
  readonly listeners = new Set<Listener>()
  /** Number of the last event that all live listeners have been offered. */
  position = 0
  /** Resolves when the feed has reached the present; rejects if the log cannot be read. */
  readonly ready: Promise<void>
  readonly #deps: FeedDeps
  readonly #open = new OpenStreams()
  readonly #unsubscribe: () => void
  /** The signals beside the log that were sent last, as JSON, by what they are about. */
  #told: ReadonlyMap<string, string> = new Map()
  /** Ends when all of them have been sent that were requested. */
  #telling: Promise<void> = Promise.resolve()
  #isAsked = false
  readonly #pages = new Map<number, Promise<Entry[]>>()
  #recent: Entry[] = []
  readonly #waiting = new Set<{ sequence: number; callback: () => void }>()
  #reading = false
  #unread = false
  #readAt: number
  #usedAt: number

  constructor(deps: FeedDeps, conversation: FollowedConversation) {
    this.#deps = deps
    this.conversation = conversation
    this.#readAt = deps.clock.now()
    this.#usedAt = deps.clock.now()
    // Before the first read, so that no event is missed between the read and the first hint.
    const unsubscribe = deps.bus.subscribe(
      { topic: eventsTopic, key: conversation.id },
      {
        onHint: ({ seq }) => {
          if (seq === undefined || seq > this.position) this.read()
        },
        onGap: () => this.read(),
      },
    )
    const unsubscribeBeside = this.#followBeside()
    this.#unsubscribe = () => {
      unsubscribe()
      unsubscribeBeside()
    }
    this.ready = this.#begin()
    // Callers that await it get the failure; without callers it must not be unhandled.
    this.ready.catch(() => {})
  }

  /** Serves a listener from its position in the log. Resolves once it is live or disconnected. */
  async join(listener: Listener): Promise<void> {
    this.listeners.add(listener)
    this.#usedAt = this.#deps.clock.now()
    if (listener.subscriber.after === undefined) this.#joinPresent(listener)
    else await this.#catchUp(listener, listener.subscriber.after)
  }

  /** Sends a live listener the present signals beside the log. */
  async greet(listener: Listener): Promise<void> {
    await this.#tell((frames) => {
      for (const frame of frames.values()) if (!listener.closed) listener.send(frame)
    })
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener)
    this.#usedAt = this.#deps.clock.now()
  }

  /**
   * Calls back once all events up to a future number have been offered to the listeners, or the
   * feed is closed.
   * @returns cancels that
   */
  onReached(sequence: number, callback: () => void): () => void {
    const waiter = { sequence, callback }
    this.#waiting.add(waiter)
    return () => {
      this.#waiting.delete(waiter)
    }
  }

  /**
   * Reads new events and offers them to all listeners; if called during a read, it reads once more.
   */
  read(): void {
    this.#unread = true
    if (this.#reading) return
    this.#run().catch((err: unknown) => {
      this.#deps.log.error(
        { err, conversationId: this.conversation.id },
        'a conversation cannot be read',
      )
      // No immediate retry: the next tick of the poll reads again.
      this.#unread = false
      this.#readAt = Number.NEGATIVE_INFINITY
    })
  }

  /** Called about every second. */
  tick(now: number): void {
    if (now - this.#readAt >= pollMilliseconds) this.read()
    while (this.#recent[0] !== undefined && now - this.#recent[0].at > keptMilliseconds) {
      this.#recent.shift()
    }
    this.#open.sweep(now)
  }

  /** Milliseconds without a listener; 0 while there is one. */
  idleFor(now: number): number {
    return this.listeners.size > 0 ? 0 : now - this.#usedAt
  }

  /** Keeps the feed for a listener that is about to join. */
  touch(): void {
    this.#usedAt = this.#deps.clock.now()
  }

  close(): void {
    this.#unsubscribe()
    for (const listener of [...this.listeners]) listener.end()
    this.listeners.clear()
    for (const { callback } of this.#waiting) callback()
    this.#waiting.clear()
  }

  #followBeside(): () => void {
    const { beside, bus } = this.#deps
    if (beside === undefined) return () => {}
    const onHint = () => {
      // Hints that come before the reading begins need no other one.
      if (this.#isAsked || this.listeners.size === 0) return
      this.#isAsked = true
      void this.#tell((frames) => {
        for (const [key, frame] of frames) {
          if (this.#told.get(key) === frame.json) continue
          for (const listener of this.listeners) if (listener.live) listener.send(frame)
        }
        this.#told = new Map([...frames].map(([key, frame]) => [key, frame.json]))
      })
    }
    const { id: key } = this.conversation
    return bus.subscribe({ topic: beside.topic, key }, { onHint, onGap: onHint })
  }

  /** One after the other, so that what was read later is sent later. */
  #tell(send: (frames: ReadonlyMap<string, Frame>) => void): Promise<void> {
    const { beside, log } = this.#deps
    if (beside === undefined) return Promise.resolve()
    this.#telling = this.#telling
      .then(async () => {
        this.#isAsked = false
        send(await beside.read(this.conversation))
      })
      // They are sent again to whoever joins.
      .catch((err: unknown) =>
        log.warn({ err, conversationId: this.conversation.id }, 'signals could not be read'),
      )
    return this.#telling
  }

  async #begin(): Promise<void> {
    // A hint during a read must not start a second reader: the slower one would miss the events
    // that the other has read, and treat that as a trimmed log.
    this.#reading = true
    const { db, clock, firstOpenPiece } = this.#deps
    const present = isoTime(clock.now() - recentMilliseconds)
    const recent = await sequenceBefore(db, this.conversation.id, present)
    const piece = await firstOpenPiece(this.conversation)
    this.position = piece === undefined ? recent : Math.min(recent, piece - 1)
    await this.#run()
  }

  async #run(): Promise<void> {
    this.#reading = true
    try {
      await this.#follow()
    } finally {
      this.#reading = false
    }
    // A hint between the last read and this line found the feed still reading.
    if (this.#unread) this.read()
  }

  async #follow(): Promise<void> {
    let entries: Entry[]
    do {
      this.#unread = false
      this.#readAt = this.#deps.clock.now()
      entries = await this.#readPage(this.position)
      if (entries[0] !== undefined && entries[0].sequence !== this.position + 1) {
        this.#startOver(entries[0].sequence - 1)
      }
      for (const entry of entries) this.#take(entry)
    } while (entries.length === pageSize || this.#unread)
  }

  async #readPage(after: number): Promise<Entry[]> {
    const events = await readEvents(this.#deps.db, this.conversation.id, after, pageSize)
    return events.length === 0 ? [] : await this.#deps.render(this.conversation, events)
  }

  #take(entry: Entry): void {
    this.position = entry.sequence
    this.#recent.push(entry)
    if (this.#recent.length > maxKept) this.#recent.shift()
    this.#open.record(entry)
    for (const listener of this.listeners) if (listener.live) listener.offer(entry)
    if (this.#waiting.size > 0) this.#wake()
    if (this.#deps.tracing !== undefined) this.#endSpan(this.#deps.tracing, entry)
  }

  #endSpan(tracing: Tracing, { sequence }: Entry): void {
    const span = tracing.signals.take(signalKey(this.conversation.id, sequence))
    if (span === undefined || this.listeners.size === 0) return
    span.set({ 'botstead.listeners': this.listeners.size })
    span.end()
  }

  #wake(): void {
    for (const waiter of this.#waiting) {
      if (waiter.sequence > this.position) continue
      this.#waiting.delete(waiter)
      waiter.callback()
    }
  }

  /** The log was trimmed past the feed, which only happens after a very long stall. */
  #startOver(position: number): void {
    this.position = position
    this.#recent = []
    for (const listener of this.listeners) if (listener.live) this.#reset(listener)
  }

  /**
   * Sends recent events and the messages in progress, then makes the listener live. All of that is one
   * synchronous step, so that no event is lost or sent twice.
   */
  #joinPresent(listener: Listener): void {
    this.#recheck(listener)
    const from = listener.since - recentMilliseconds
    const present = this.#recent.findIndex(({ at }) => at >= from)
    listener.position = this.position
    const entries = present < 0 ? [] : this.#recent.slice(present)
    listener.position = (entries[0]?.sequence ?? this.position + 1) - 1
    for (const entry of entries) {
      if (this.#open.includes(entry)) listener.skip(entry)
      else listener.offer(entry)
    }
    for (const frame of this.#open.summaries(this.conversation)) listener.send(frame)
    listener.live = true
  }

  /**
   * Sends a listener the events that it missed, then makes it live. It becomes live in the same
   * synchronous step that finds it up to date, so that no event is lost or sent twice.
   */
  async #catchUp(listener: Listener, after: number): Promise<void> {
    listener.position = after
    // A number newer than the authorisation may be past the removal of its user.
    if (after > listener.subscriber.authorizedAt) this.#recheck(listener)
    while (!listener.closed) {
      const entries = this.#recentAfter(listener.position) ?? (await this.#page(listener.position))
      const [first] = entries
      if (first === undefined) {
        // A number that was never assigned, or whose successors were deleted.
        if (listener.position !== this.position && !(await this.#isAhead(listener))) {
          this.#reset(listener)
          return
        }
      } else if (first.sequence !== listener.position + 1) {
        this.#reset(listener)
        return
      }
      for (const entry of entries) {
        if (listener.sink.pending > maxPendingCatchUp) await untilReady(listener)
        if (listener.closed) return
        listener.offer(entry)
      }
      if (listener.position >= this.position) {
        listener.live = true
        return
      }
    }
  }

  /** The feed of this process may be behind another process that served the client. */
  async #isAhead(listener: Listener): Promise<boolean> {
    if (listener.position === 0 || listener.position <= this.position) return false
    const [newest] = await this.#page(listener.position - 1)
    return newest?.sequence === listener.position
  }

  /** Some events after a number, as entries; listeners at the same position share one read. */
  #page(after: number): Promise<Entry[]> {
    const running = this.#pages.get(after)
    if (running !== undefined) return running
    const started = this.#readPage(after).finally(() => this.#pages.delete(after))
    this.#pages.set(after, started)
    return started
  }

  /** The cached entries after a number; undefined if some of them are no longer cached. */
  #recentAfter(after: number): Entry[] | undefined {
    if (after === this.position) return []
    const first = this.#recent[0]
    if (first === undefined || first.sequence > after + 1 || after > this.position) return undefined
    return this.#recent.slice(after + 1 - first.sequence)
  }

  /** Makes a client fetch the current state, and continues from there. */
  #reset(listener: Listener): void {
    const data = { conversationId: this.conversation.publicId }
    this.#recheck(listener)
    listener.position = this.position
    listener.live = true
    listener.send(new Frame({ type: 'reset', data }, this.position))
    for (const frame of this.#open.summaries(this.conversation)) listener.send(frame)
  }

  /**
   * Disconnects a listener whose user was removed by an event that the listener is not offered: one
   * between the authorisation and the position from which it follows.
   */
  #recheck(listener: Listener): void {
    const { authorizedAt, userId } = listener.subscriber
    if (authorizedAt >= this.position) return
    const since = this.#recentAfter(authorizedAt)
    if (since !== undefined && !since.some(({ removed }) => removed === userId)) return
    void endUnlessParticipant(listener)
  }
}

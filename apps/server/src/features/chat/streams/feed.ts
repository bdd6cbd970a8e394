import { isoTime } from '../../../platform/clock.js'
import { eventsTopic } from '../../../platform/events/hints.js'
import { readEvents, sequenceBefore } from '../../../platform/events/read.js'
import { Frame } from '../../../platform/streams/frame.js'
import { catchUp } from './catch-up.js'
import type { Entry, Room } from './entry.js'
import type { FeedDeps } from './feeds.js'
import { endUnlessTakesPart, type Listener } from './listener.js'
import { OpenStreams } from './open-streams.js'

/** Milliseconds of the past that those who begin to listen are told. */
const recentMilliseconds = 500
/** Milliseconds that entries are kept: longer than that, for those who are let in meanwhile. */
const keptMilliseconds = 2000
/** Entries kept at most. */
const maxKept = 1000
/** Milliseconds after which the log is looked at without a hint. */
const pollMilliseconds = 15_000
const pageSize = 100

/**
 * Follows the log of one conversation for all who listen to it in this process: an event is read and
 * written as text once, however many they are. Hints only say when to look.
 */
export class Feed {
  readonly room: Room
  readonly listeners = new Set<Listener>()
  /** Number of the last event that all live listeners have been offered. */
  position = 0
  /** Resolves when the feed has reached the present; rejects if the log cannot be read. */
  readonly ready: Promise<void>
  readonly #deps: FeedDeps
  readonly #open = new OpenStreams()
  readonly #unsubscribe: () => void
  readonly #pages = new Map<number, Promise<Entry[]>>()
  #recent: Entry[] = []
  #waiting: { sequence: number; resolve: () => void }[] = []
  #reading = false
  #unread = false
  #lookedAt: number
  #usedAt: number

  constructor(deps: FeedDeps, room: Room) {
    this.#deps = deps
    this.room = room
    this.#lookedAt = deps.clock.now()
    this.#usedAt = deps.clock.now()
    // From before the first read, so that nothing falls between what is stored and what comes.
    this.#unsubscribe = deps.bus.subscribe(
      { topic: eventsTopic, key: room.id },
      {
        onHint: ({ seq }) => {
          if (seq === undefined || seq > this.position) this.look()
        },
        onGap: () => this.look(),
      },
    )
    this.ready = this.#begin()
    // Whoever waits for it hears of a failure; nobody else has to.
    this.ready.catch(() => {})
  }

  /** Serves a listener from its place in the log on. Resolves once it is live or gone. */
  async join(listener: Listener): Promise<void> {
    this.listeners.add(listener)
    this.#usedAt = this.#deps.clock.now()
    if (listener.guest.after === undefined) this.#joinPresent(listener)
    else await catchUp(this, listener, listener.guest.after)
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener)
    this.#usedAt = this.#deps.clock.now()
  }

  /** Some events after a number, as entries; those who miss the same share one read. */
  page(after: number): Promise<Entry[]> {
    const running = this.#pages.get(after)
    if (running !== undefined) return running
    const started = this.#read(after).finally(() => this.#pages.delete(after))
    this.#pages.set(after, started)
    return started
  }

  /** The entries after a number from memory; undefined if some of them are no longer there. */
  recentAfter(after: number): Entry[] | undefined {
    if (after === this.position) return []
    const first = this.#recent[0]
    if (first === undefined || first.sequence > after + 1 || after > this.position) return undefined
    return this.#recent.slice(after + 1 - first.sequence)
  }

  /** Tells a listener that it has to look at the present state, and goes on from there. */
  reset(listener: Listener): void {
    const data = { conversationId: this.room.publicId }
    this.recheck(listener)
    listener.position = this.position
    listener.live = true
    listener.send(new Frame({ type: 'reset', data }, this.position))
    for (const frame of this.#open.summaries(this.room)) listener.send(frame)
  }

  /**
   * Ends a listener who does not take part any more, as far as that cannot be seen from what it is
   * offered from now on: the end of its part may stand among the events that it is not offered.
   */
  recheck(listener: Listener): void {
    const { authorizedAt, userId } = listener.guest
    if (authorizedAt >= this.position) return
    const since = this.recentAfter(authorizedAt)
    if (since !== undefined && !since.some(({ removed }) => removed === userId)) return
    void endUnlessTakesPart(listener)
  }

  /** Resolves when everything up to a number has been offered to the listeners. */
  reached(sequence: number): Promise<void> {
    if (this.position >= sequence) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ sequence, resolve }))
  }

  /** Reads what is new and offers it to everybody; asked again meanwhile, it reads once more. */
  look(): void {
    this.#unread = true
    if (this.#reading) return
    this.#run().catch((err: unknown) => {
      this.#deps.log.error({ err, conversationId: this.room.id }, 'a conversation cannot be read')
      // Not at once: the next tick of the poll tries again.
      this.#unread = false
      this.#lookedAt = Number.NEGATIVE_INFINITY
    })
  }

  /** To be called every second or so. */
  tick(now: number): void {
    if (now - this.#lookedAt >= pollMilliseconds) this.look()
    while (this.#recent[0] !== undefined && now - this.#recent[0].at > keptMilliseconds) {
      this.#recent.shift()
    }
    this.#open.sweep(now)
  }

  /** Milliseconds for which nobody has listened; 0 while somebody does. */
  idleFor(now: number): number {
    return this.listeners.size > 0 ? 0 : now - this.#usedAt
  }

  /** Whoever is about to listen must find the feed still there. */
  touch(): void {
    this.#usedAt = this.#deps.clock.now()
  }

  close(): void {
    this.#unsubscribe()
    for (const listener of [...this.listeners]) listener.end()
    this.listeners.clear()
    for (const { resolve } of this.#waiting) resolve()
    this.#waiting = []
  }

  async #begin(): Promise<void> {
    // A hint that comes meanwhile must not start a second reader: the slower of the two would find what
    // the other has taken already, and take the log for one that begins anew.
    this.#reading = true
    const { db, clock, firstOpenPiece } = this.#deps
    const present = isoTime(clock.now() - recentMilliseconds)
    const recent = await sequenceBefore(db, this.room.id, present)
    const piece = await firstOpenPiece(this.room)
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
    // A hint that came after the last look and before this line has found it still reading.
    if (this.#unread) this.look()
  }

  async #follow(): Promise<void> {
    let entries: Entry[]
    do {
      this.#unread = false
      this.#lookedAt = this.#deps.clock.now()
      entries = await this.#read(this.position)
      if (entries[0] !== undefined && entries[0].sequence !== this.position + 1) {
        this.#startOver(entries[0].sequence - 1)
      }
      for (const entry of entries) this.#take(entry)
    } while (entries.length === pageSize || this.#unread)
  }

  async #read(after: number): Promise<Entry[]> {
    const events = await readEvents(this.#deps.db, this.room.id, after, pageSize)
    return events.length === 0 ? [] : await this.#deps.render(this.room, events)
  }

  #take(entry: Entry): void {
    this.position = entry.sequence
    this.#recent.push(entry)
    if (this.#recent.length > maxKept) this.#recent.shift()
    this.#open.note(entry)
    for (const listener of this.listeners) if (listener.live) listener.offer(entry)
    if (this.#waiting.length > 0) this.#wake()
  }

  #wake(): void {
    const reached = this.#waiting.filter(({ sequence }) => sequence <= this.position)
    this.#waiting = this.#waiting.filter(({ sequence }) => sequence > this.position)
    for (const { resolve } of reached) resolve()
  }

  /** The log was trimmed past the feed, which can only happen when it stood still for very long. */
  #startOver(position: number): void {
    this.position = position
    this.#recent = []
    for (const listener of this.listeners) if (listener.live) this.reset(listener)
  }

  /** What happened in the last moment, then what is being written, then what comes: in one step. */
  #joinPresent(listener: Listener): void {
    this.recheck(listener)
    const from = this.#deps.clock.now() - recentMilliseconds
    const present = this.#recent.findIndex(({ at }) => at >= from)
    listener.position = this.position
    const entries = present < 0 ? [] : this.#recent.slice(present)
    listener.position = (entries[0]?.sequence ?? this.position + 1) - 1
    for (const entry of entries) {
      if (this.#open.holds(entry)) listener.pass(entry)
      else listener.offer(entry)
    }
    for (const frame of this.#open.summaries(this.room)) listener.send(frame)
    listener.live = true
  }
}

import type { Clock, Timers } from '../../../platform/clock.js'
import type { Frame } from '../../../platform/streams/frame.js'
import type { EndReason, Sink } from '../../../platform/streams/sink.js'
import type { Entry } from './entry.js'

/** A user who subscribes to a conversation, and the state of the authorisation. */
export interface Subscriber {
  /** Native id of the user. */
  userId: string
  /** Number of the newest event when it was verified that the user takes part. */
  authorizedAt: number
  /** Number of the last event that the client has; undefined to begin with the present. */
  after: number | undefined
  /** Sent before all events; they include the events up to `after`. Cleared once they are sent: they may be large. */
  firstFrames?: readonly Frame[] | undefined
  /** Called when the network has taken the first frames, or the connection has closed; perhaps twice. */
  onFirstFramesTaken?(): void
  /**
   * Watches the authority of the subscriber and calls `end` once when it has ended. Returns a function that ends the
   * watching.
   */
  watch(end: () => void): () => void
  /** Whether the user takes part in the conversation right now. */
  isParticipant(): Promise<boolean>
}

/** One open connection of a subscriber. Sends each event once and in order, however often it is offered. */
export class Listener {
  readonly subscriber: Subscriber
  readonly sink: Sink
  /** Time of its subscription. On a busy machine it joins the feed noticeably later. */
  readonly since: number
  readonly #maxPending: number
  readonly #now: () => number
  /** Number of the last event that was sent or skipped. */
  position = 0
  /** Whether events are offered as they come; before that, the listener catches up. */
  live = false
  closed = false
  /** Time of the last byte, in milliseconds. */
  sentAt: number

  constructor(
    subscriber: Subscriber,
    sink: Sink,
    options: { maxPending: number; now: () => number; since: number },
  ) {
    this.subscriber = subscriber
    this.sink = sink
    this.since = options.since
    this.#maxPending = options.maxPending
    this.#now = options.now
    this.sentAt = options.now()
  }

  /** Sends an event unless the client has it; ends the connection after an event that ends it. */
  offer(entry: Entry): void {
    if (this.closed || entry.sequence <= this.position) return
    this.position = entry.sequence
    // An older removal does not count: the user was added again since.
    if (entry.removed === this.subscriber.userId && entry.sequence > this.subscriber.authorizedAt) {
      this.end('unauthorized')
      return
    }
    for (const frame of entry.frames) this.send(frame)
    if (entry.last) this.end()
  }

  /** Skips an event. */
  skip(entry: Entry): void {
    this.position = Math.max(this.position, entry.sequence)
  }

  /** Sends a frame, of an event or on its own; disconnects a client that does not read. */
  send(frame: Frame): void {
    if (this.closed) return
    this.sink.send(frame)
    this.sentAt = this.#now()
    // The client continues from its last event when it reconnects.
    if (this.live && this.sink.pending > this.#maxPending) this.cut()
  }

  ping(): void {
    if (this.closed) return
    this.sink.ping()
    this.sentAt = this.#now()
    if (this.sink.pending > this.#maxPending) this.cut()
  }

  /** Ends the connection after what is queued. */
  end(reason?: EndReason): void {
    this.closed = true
    this.sink.end(reason)
  }

  /** Ends the connection at once; what is queued is lost. */
  cut(): void {
    this.closed = true
    this.sink.cut()
  }
}

/** Milliseconds without progress after which a listener that must take much is disconnected. */
const stallMilliseconds = 30_000

/** Waits until the network has taken what is queued for a listener. */
export async function untilReady(listener: Listener): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), stallMilliseconds)
  })
  const isLate = await Promise.race([listener.sink.ready(), late])
  clearTimeout(timer)
  if (isLate === true) listener.cut()
}

/**
 * Disconnects a listener whose user no longer takes part, or whose participation cannot be read.
 */
export async function endUnlessParticipant(listener: Listener): Promise<void> {
  const takesPart = await listener.subscriber.isParticipant().catch(() => false)
  if (!takesPart) listener.end('unauthorized')
}

/** Milliseconds without a byte after which a listener is pinged. */
const quietMilliseconds = 30_000
const spokeMilliseconds = 1000
const spokes = quietMilliseconds / spokeMilliseconds

/**
 * Pings quiet listeners with one timer for all: a timer wheel with a slot for each second. A
 * listener is in the slot at which it would be due; if something was sent to it since, it moves to
 * a later one.
 */
export class Heartbeat {
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #wheel = Array.from({ length: spokes }, () => new Set<Listener>())
  readonly #spokes = new Map<Listener, Set<Listener>>()
  #turn = 0
  #cancel: (() => void) | undefined

  constructor(timers: Timers, clock: Clock) {
    this.#timers = timers
    this.#clock = clock
  }

  add(listener: Listener): void {
    this.#put(listener, spokes)
    this.#cancel ??= this.#timers.after(spokeMilliseconds, () => this.#advance())
  }

  remove(listener: Listener): void {
    this.#spokes.get(listener)?.delete(listener)
    this.#spokes.delete(listener)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #put(listener: Listener, ahead: number): void {
    const spoke = this.#wheel[(this.#turn + Math.min(ahead, spokes)) % spokes]
    if (spoke === undefined) return
    spoke.add(listener)
    this.#spokes.set(listener, spoke)
  }

  #advance(): void {
    this.#turn = (this.#turn + 1) % spokes
    const due = this.#wheel[this.#turn] ?? new Set()
    const now = this.#clock.now()
    for (const listener of [...due]) {
      due.delete(listener)
      const left = listener.sentAt + quietMilliseconds - now
      if (left <= 0) {
        listener.ping()
        this.#put(listener, spokes)
      } else {
        this.#put(listener, Math.ceil(left / spokeMilliseconds))
      }
    }
    this.#cancel =
      this.#spokes.size === 0
        ? undefined
        : this.#timers.after(spokeMilliseconds, () => this.#advance())
  }
}

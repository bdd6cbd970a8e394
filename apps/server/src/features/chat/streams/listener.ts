import type { Frame } from '../../../platform/streams/frame.js'
import type { Sink } from '../../../platform/streams/sink.js'
import type { Entry } from './entry.js'

/** A user who subscribes to a conversation, and how the permission was verified. */
export interface Subscriber {
  /** Native id of the user. */
  userId: string
  /** Number of the newest event when it was verified that the user takes part. */
  authorizedAt: number
  /** Number of the last event that the client has; undefined to begin with the present. */
  after: number | undefined
  /** Whether the user key and the chat address are still valid. */
  isAuthorized(): Promise<boolean>
  /** Whether the user takes part in the conversation right now. */
  isParticipant(): Promise<boolean>
}

/** One open connection of a subscriber. Frames are sent once and in order, whoever offers them. */
export class Listener {
  readonly subscriber: Subscriber
  readonly sink: Sink
  readonly #maxPending: number
  readonly #now: () => number
  /** Number of the last event that was sent, or passed over. */
  position = 0
  /** Whether events are offered as they come; before that, the listener catches up. */
  live = false
  closed = false
  /** Milliseconds of the last byte. */
  sentAt: number

  constructor(
    subscriber: Subscriber,
    sink: Sink,
    options: { maxPending: number; now: () => number },
  ) {
    this.subscriber = subscriber
    this.sink = sink
    this.#maxPending = options.maxPending
    this.#now = options.now
    this.sentAt = options.now()
  }

  /** Sends an event unless the client has it already; ends with one that ends it. */
  offer(entry: Entry): void {
    if (this.closed || entry.sequence <= this.position) return
    this.position = entry.sequence
    // An older removal is history: the user was added again since.
    if (entry.removed === this.subscriber.userId && entry.sequence > this.subscriber.authorizedAt) {
      this.end()
      return
    }
    for (const frame of entry.frames) this.send(frame)
    if (entry.last) this.end()
  }

  /** Goes past an event without sending it. */
  skip(entry: Entry): void {
    this.position = Math.max(this.position, entry.sequence)
  }

  send(frame: Frame): void {
    if (this.closed) return
    this.sink.send(frame)
    this.sentAt = this.#now()
    // A client that does not read is disconnected, and goes on from there when it comes back.
    if (this.live && this.sink.pending > this.#maxPending) this.cut()
  }

  ping(): void {
    if (this.closed) return
    this.sink.ping()
    this.sentAt = this.#now()
    if (this.sink.pending > this.#maxPending) this.cut()
  }

  end(): void {
    this.closed = true
    this.sink.end()
  }

  cut(): void {
    this.closed = true
    this.sink.cut()
  }
}

/** Ends a listener whose user does not take part any more, or where that cannot be found out. */
export async function endUnlessParticipant(listener: Listener): Promise<void> {
  const takesPart = await listener.subscriber.isParticipant().catch(() => false)
  if (!takesPart) listener.end()
}

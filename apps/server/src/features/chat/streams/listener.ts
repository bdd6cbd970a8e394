import type { Frame } from '../../../platform/streams/frame.js'
import type { Sink } from '../../../platform/streams/sink.js'
import type { Entry } from './entry.js'

/** A user who subscribes to a conversation, and the state of the authorisation. */
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

/** One open connection of a subscriber. Sends each event once and in order, whoever offers it. */
export class Listener {
  readonly subscriber: Subscriber
  readonly sink: Sink
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
    options: { maxPending: number; now: () => number },
  ) {
    this.subscriber = subscriber
    this.sink = sink
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
      this.end()
      return
    }
    for (const frame of entry.frames) this.send(frame)
    if (entry.last) this.end()
  }

  /** Skips an event. */
  skip(entry: Entry): void {
    this.position = Math.max(this.position, entry.sequence)
  }

  send(frame: Frame): void {
    if (this.closed) return
    this.sink.send(frame)
    this.sentAt = this.#now()
    // A client that does not read is disconnected, and continues from there when it reconnects.
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

/**
 * Disconnects a listener whose user no longer takes part, or whose participation cannot be read.
 */
export async function endUnlessParticipant(listener: Listener): Promise<void> {
  const takesPart = await listener.subscriber.isParticipant().catch(() => false)
  if (!takesPart) listener.end()
}

import type { Frame } from '../../../platform/streams/frame.js'
import type { Sink } from '../../../platform/streams/sink.js'
import type { Entry } from './entry.js'

/** Somebody who listens to a conversation, and what made sure that they may. */
export interface Guest {
  /** Native id of the user. */
  userId: string
  /** Number of the newest event when it was found that the user takes part. */
  authorizedAt: number
  /** The last number the user has; undefined to begin with the present. */
  after: number | undefined
  /** Whether the key and the address by which the user came are still good. */
  stillWelcome(): Promise<boolean>
  /** Whether the user takes part in the conversation right now. */
  stillTakesPart: () => Promise<boolean>
}

/** One open connection of a guest. Frames are sent once and in order, whoever offers them. */
export class Listener {
  readonly guest: Guest
  readonly sink: Sink
  readonly #maxPending: number
  readonly #now: () => number
  /** Number of the last event that was sent, or passed over. */
  position = 0
  /** Events are offered as they come; before, the listener is reading what it has missed. */
  live = false
  closed = false
  /** Milliseconds of the last byte. */
  sentAt: number

  constructor(guest: Guest, sink: Sink, options: { maxPending: number; now: () => number }) {
    this.guest = guest
    this.sink = sink
    this.#maxPending = options.maxPending
    this.#now = options.now
    this.sentAt = options.now()
  }

  /** Sends an event unless the listener has it already, or ends if it says so. */
  offer(entry: Entry): void {
    if (this.closed || entry.sequence <= this.position) return
    this.position = entry.sequence
    // An older one is history: the user has come back since.
    if (entry.removed === this.guest.userId && entry.sequence > this.guest.authorizedAt) {
      this.end()
      return
    }
    for (const frame of entry.frames) this.send(frame)
    if (entry.last) this.end()
  }

  /** Goes past an event without telling of it. */
  pass(entry: Entry): void {
    this.position = Math.max(this.position, entry.sequence)
  }

  send(frame: Frame): void {
    if (this.closed) return
    this.sink.send(frame)
    this.sentAt = this.#now()
    // Whoever does not read is let go, and goes on from there when it comes back.
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

/** Asks whether the user still takes part, and ends the listener if not, or if nobody can say. */
export async function endUnlessTakesPart(listener: Listener): Promise<void> {
  const takesPart = await listener.guest.stillTakesPart().catch(() => false)
  if (!takesPart) listener.end()
}

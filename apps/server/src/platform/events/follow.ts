import type { EventBus } from '../bus/event-bus.js'
import { systemTimers, type Timers } from '../clock.js'
import type { Db } from '../db/schema.js'
import { eventsTopic } from './publisher.js'
import { newestSequence, oldestSequence, readEvents, type StoredEvent } from './read.js'

/**
 * The log does not hold what comes right after the number a reader has: it was trimmed since, or the
 * number is not of this log. The reader has to look at the present state and follow from there.
 */
export class OutsideEventLogError extends Error {
  override readonly name = 'OutsideEventLogError'

  constructor(stream: string, after: number) {
    super(`The log of ${stream} cannot be followed from ${after}`)
  }
}

export interface FollowDeps {
  db: Db
  bus: EventBus
  timers?: Timers
  /** A number from 0 up to 1. Default `Math.random`. */
  random?: () => number
}

export interface FollowOptions {
  stream: string
  /** The last number the reader has; 0 to begin with the first event. */
  after: number
  /** Ends the iteration without an error. */
  signal: AbortSignal
  /** Events read at a time: all that is ever held for a reader who is slow. Default 100. */
  batchSize?: number
  /** How long to wait without a hint before looking all the same, a quarter more or less. Default 15,000. */
  pollMilliseconds?: number
}

/**
 * Every event of a stream after a number, each once and in order: first what is stored, then what
 * comes, until the signal ends it. Hints only say when to read, so one that is lost, late or doubled
 * changes nothing but the time. Throws {@link OutsideEventLogError} where the log has a hole.
 */
export async function* followStream(
  deps: FollowDeps,
  options: FollowOptions,
): AsyncGenerator<StoredEvent, void, undefined> {
  const { db, bus, timers = systemTimers, random = Math.random } = deps
  const { stream, after, signal, batchSize = 100, pollMilliseconds = 15_000 } = options
  let read = after
  let unread = false
  let wake = () => {}

  function look(): void {
    unread = true
    wake()
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = timers.after(pollMilliseconds * (0.75 + random() / 2), () => wake())
      wake = () => {
        cancel()
        resolve()
      }
    })
  }

  // Before the first read, so that no event is missed between the read and the first hint.
  const unsubscribe = bus.subscribe(
    { topic: eventsTopic, key: stream },
    {
      onHint: ({ seq }) => {
        if (seq === undefined || seq > read) look()
      },
      onGap: look,
    },
  )
  signal.addEventListener('abort', look)
  try {
    if (!signal.aborted) await requireInside(db, stream, after)
    while (!signal.aborted) {
      unread = false
      const events = await readEvents(db, stream, read, batchSize)
      for (const event of events) {
        if (signal.aborted) return
        // Numbers have no gaps, so where one is missing the log was trimmed past a slow reader.
        if (event.sequence !== read + 1) throw new OutsideEventLogError(stream, read)
        read = event.sequence
        yield event
      }
      if (events.length < batchSize && !unread && !signal.aborted) await pause()
    }
  } finally {
    signal.removeEventListener('abort', look)
    unsubscribe()
    wake()
  }
}

async function requireInside(db: Db, stream: string, after: number): Promise<void> {
  const oldest = await oldestSequence(db, stream)
  const newest = await newestSequence(db, stream)
  if (after < oldest - 1 || after > newest) throw new OutsideEventLogError(stream, after)
}

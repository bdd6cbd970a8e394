import { ApiError } from '@botstead/contract'
import type { Sink, StartStream } from '../../../platform/streams/sink.js'
import { systemTimers, type Timers } from '../../../platform/timers.js'
import type { Room } from './entry.js'
import { type FeedDeps, Feeds } from './feeds.js'
import { Heartbeat } from './heartbeat.js'
import { goneUsersTopic } from './hints.js'
import { endUnlessTakesPart, type Guest, Listener } from './listener.js'

export type { Entry, Piece, Render, Room } from './entry.js'
export { announceGoneUser } from './hints.js'
export type { Guest } from './listener.js'
export { streamLifetime, toSignal } from './open-streams.js'

export interface ListeningOptions extends Omit<FeedDeps, 'timers'> {
  timers?: Timers
  limits: {
    /** Listeners that one user may have at a time in this process. */
    perUser: number
    /** Listeners of all users of this process. */
    perProcess: number
    /** Bytes that may wait for one listener before it is let go. */
    pendingBytes: number
  }
}

/** Milliseconds that an answer waits at most for the listeners of this process to be told first. */
const politeness = 500

export type Listening = ReturnType<typeof createListening>

/** Tells those who listen to conversations what happens there. */
export function createListening(options: ListeningOptions) {
  const { timers = systemTimers, clock, limits, log } = options
  const feeds = new Feeds({ ...options, timers })
  const heartbeat = new Heartbeat(timers, clock, (listener) => void check(listener))
  const countByUser = new Map<string, number>()
  let count = 0
  let stopped = false
  /** How often the parts of listeners may have ended without an event in the log. */
  let unsettled = 0

  /** A user is gone, and its parts with it, of which nothing was written. */
  function dismiss(userId: string): void {
    unsettled += 1
    if (!countByUser.has(userId)) return
    for (const listener of feeds.listeners()) {
      if (listener.guest.userId === userId) void endUnlessTakesPart(listener)
    }
  }

  /** Any user may be gone. One after the other: the database has enough to do after a gap. */
  async function recheckAll(): Promise<void> {
    unsettled += 1
    for (const listener of [...feeds.listeners()]) {
      if (!listener.closed) await endUnlessTakesPart(listener)
    }
  }

  options.bus.subscribe(
    { topic: goneUsersTopic },
    { onHint: ({ key }) => dismiss(key), onGap: () => void recheckAll() },
  )

  async function check(listener: Listener): Promise<void> {
    const welcome = await listener.guest.stillWelcome().catch(() => true)
    if (!welcome) listener.end()
  }

  function enter(userId: string): () => void {
    const own = countByUser.get(userId) ?? 0
    if (own >= limits.perUser || count >= limits.perProcess) {
      const whose = own >= limits.perUser ? 'You have' : 'The server has'
      const most = own >= limits.perUser ? limits.perUser : limits.perProcess
      throw new ApiError(
        'RateLimited',
        `${whose} ${most} open listeners already: close some first.`,
        {
          metadata: { retryAfterSeconds: 5 },
        },
      )
    }
    countByUser.set(userId, own + 1)
    count += 1
    return () => {
      count -= 1
      const left = (countByUser.get(userId) ?? 1) - 1
      if (left > 0) countByUser.set(userId, left)
      else countByUser.delete(userId)
    }
  }

  async function serve(room: Room, guest: Guest, sink: Sink, settled: number): Promise<void> {
    const feed = await feeds.open(room)
    if (stopped) return sink.end()
    const listener = new Listener(guest, sink, {
      maxPending: limits.pendingBytes,
      now: () => clock.now(),
    })
    heartbeat.add(listener)
    sink.onClose(() => {
      listener.closed = true
      heartbeat.remove(listener)
      feed.leave(listener)
    })
    if (settled !== unsettled) void endUnlessTakesPart(listener)
    await feed.join(listener)
  }

  return {
    /**
     * Lets a guest in. What it answers serves a connection from the moment it is called. Rejects with
     * `RateLimited` when there are too many listeners, and when the log cannot be read.
     */
    async admit(room: Room, guest: Guest): Promise<StartStream> {
      if (stopped) throw new ApiError('Internal', 'The server is stopping.')
      const settled = unsettled
      // Before the connection is answered, so that a failure is an answer and not a broken stream.
      await feeds.open(room)
      const leave = enter(guest.userId)
      return (sink) => {
        sink.onClose(leave)
        serve(room, guest, sink, settled).catch((err: unknown) => {
          log.error({ err, conversationId: room.id }, 'a listener could not be served')
          sink.cut()
        })
      }
    },

    /**
     * Resolves when the listeners of this process have been told of an event, or after half a second:
     * an answer that comes before the signal would let clients see things in the wrong order.
     */
    async reached(conversationId: string, sequence: number): Promise<void> {
      const feed = feeds.find(conversationId)
      if (feed === undefined || feed.listeners.size === 0 || feed.position >= sequence) return
      let cancel = () => {}
      const late = new Promise<void>((resolve) => {
        cancel = timers.after(politeness, resolve)
      })
      await Promise.race([feed.reached(sequence), late])
      cancel()
    },

    /** Sends those away whose key or address is no longer good, in the conversations of a bot. */
    recheck(botId: string): void {
      for (const feed of feeds.all) {
        if (feed.room.botId !== botId) continue
        for (const listener of feed.listeners) void check(listener)
      }
    },

    /** Grows whenever users may have been deleted or lost their keys: what is cached of them is stale. */
    departures: () => unsettled,

    /** How many listen. */
    count: () => count,

    /** Ends all streams, so that clients come back to another process or to the next start. */
    stop(): void {
      stopped = true
      heartbeat.stop()
      feeds.close()
    },
  }
}

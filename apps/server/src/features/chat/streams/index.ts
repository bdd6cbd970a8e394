import { serverIsStopping } from '../../../domain/stopping.js'
import type { EventBus } from '../../../platform/bus/event-bus.js'
import type { Sink, StartStream } from '../../../platform/streams/sink.js'
import type { FollowedConversation } from './entry.js'
import type { FeedDeps } from './feed.js'
import { Feeds } from './feeds.js'
import {
  endUnlessParticipant,
  Heartbeat,
  Listener,
  type Subscriber,
  untilReady,
} from './listener.js'
import type { ListenerSlots } from './slots.js'

export type { Entry, FollowedConversation, Piece, Render } from './entry.js'
export type { Subscriber } from './listener.js'
export { streamLifetime, toSignal } from './open-streams.js'
export { createListenerSlots, type ListenerLimits } from './slots.js'

export interface ConversationStreamsOptions extends FeedDeps {
  /** The places for listeners, which the streams of several protocols share. */
  slots: ListenerSlots
  /** Bytes that may wait for one listener before it is disconnected. */
  pendingBytes: number
}

/** What was true when a listener subscribed. */
interface Subscription {
  /** Value of `revocations` when the participation was verified. */
  verifiedAt: number
  since: number
}

export type ConversationStreams = ReturnType<typeof createConversationStreams>

/** Most milliseconds that a response waits until the listeners of this process got the event. */
const listenersFirstMs = 500
/** Topic of the hints that a user was deleted, or its keys revoked; the key is its native id. */
const revokedUsersTopic = 'gone-users'

/**
 * Ends the streams of a user who may no longer listen, in all processes. Called after the commit.
 */
export function announceRevokedUser(bus: EventBus, userId: string): void {
  bus.publish({ topic: revokedUsersTopic, key: userId })
}

/** Streams the events of conversations to their listeners. */
export function createConversationStreams(options: ConversationStreamsOptions) {
  const { timers, clock, slots, pendingBytes, log } = options
  const feeds = new Feeds(options)
  const heartbeat = new Heartbeat(timers, clock, (listener) => void endUnlessAuthorized(listener))
  let stopped = false
  /** Counts how often users may have lost their participation without an event in a log. */
  let revocations = 0

  /** Called when a user was deleted or lost its keys, of which logs have no event. */
  function recheckUser(userId: string): void {
    revocations += 1
    if (!slots.has(userId)) return
    for (const listener of feeds.listeners()) {
      if (listener.subscriber.userId === userId) void endUnlessParticipant(listener)
    }
  }

  /** Any user may be gone. One after the other, because the database is busy after a gap. */
  async function recheckAll(): Promise<void> {
    revocations += 1
    for (const listener of [...feeds.listeners()]) {
      if (!listener.closed) await endUnlessParticipant(listener)
    }
  }

  options.bus.subscribe(
    { topic: revokedUsersTopic },
    { onHint: ({ key }) => recheckUser(key), onGap: () => void recheckAll() },
  )

  async function endUnlessAuthorized(listener: Listener): Promise<void> {
    const isAuthorized = await listener.subscriber.isAuthorized().catch(() => true)
    if (!isAuthorized) listener.end()
  }

  async function serve(
    conversation: FollowedConversation,
    subscriber: Subscriber,
    sink: Sink,
    { verifiedAt, since }: Subscription,
  ): Promise<void> {
    const feed = await feeds.open(conversation)
    if (stopped) return sink.end()
    const listener = new Listener(subscriber, sink, {
      maxPending: pendingBytes,
      now: () => clock.now(),
      since,
    })
    heartbeat.add(listener)
    sink.onClose(() => {
      listener.closed = true
      heartbeat.remove(listener)
      feed.leave(listener)
    })
    if (verifiedAt !== revocations) void endUnlessParticipant(listener)
    if (subscriber.firstFrames !== undefined) {
      for (const frame of subscriber.firstFrames) listener.send(frame)
      subscriber.firstFrames = undefined
      // The first frames alone may exceed the limit of pending bytes, which later frames must keep.
      await untilReady(listener)
      subscriber.onFirstFramesTaken?.()
    }
    await feed.join(listener)
  }

  return {
    /**
     * Returns the function that serves the connection of a subscriber. Rejects with `RateLimited`
     * when there are too many listeners, and when the log cannot be read.
     */
    async subscribe(
      conversation: FollowedConversation,
      subscriber: Subscriber,
    ): Promise<StartStream> {
      if (stopped) throw serverIsStopping()
      const subscription = { verifiedAt: revocations, since: clock.now() }
      // Before the response begins, so that a failure is an error response and not a broken stream.
      await feeds.open(conversation)
      const release = slots.reserve(subscriber.userId)
      return (sink) => {
        sink.onClose(() => {
          release()
          subscriber.onFirstFramesTaken?.()
        })
        serve(conversation, subscriber, sink, subscription).catch((err: unknown) => {
          log.error({ err, conversationId: conversation.id }, 'a listener could not be served')
          sink.cut()
        })
      }
    },

    /**
     * Resolves when the listeners of this process got an event, or after half a second: with a
     * response before the signal, clients would see events in the wrong order.
     */
    async waitForListeners(conversationId: string, sequence: number): Promise<void> {
      const feed = feeds.find(conversationId)
      if (feed === undefined || feed.listeners.size === 0 || feed.position >= sequence) return
      await new Promise<void>((resolve) => {
        const done = () => {
          cancelTimer()
          cancelWait()
          resolve()
        }
        const cancelTimer = timers.after(listenersFirstMs, done)
        const cancelWait = feed.onReached(sequence, done)
      })
    },

    /** Disconnects listeners of a bot whose key or address is no longer valid. */
    recheckBot(botId: string): void {
      for (const feed of feeds.all) {
        if (feed.conversation.botId !== botId) continue
        for (const listener of feed.listeners) void endUnlessAuthorized(listener)
      }
    },

    /** Grows whenever users may have been deleted or lost their keys: caches of them are stale. */
    revocations: () => revocations,

    /** Ends all streams, so that clients reconnect to another process or to the next start. */
    stop(): void {
      stopped = true
      heartbeat.stop()
      feeds.close()
    },
  }
}

import { serverIsStopping } from '../../../domain/stopping.js'
import type { Sink, StartStream } from '../../../platform/streams/sink.js'
import type { Meter } from '../../tenancy/metering/index.js'
import type { FollowedConversation } from './entry.js'
import type { FeedDeps } from './feed.js'
import { Feeds } from './feeds.js'
import { Heartbeat, Listener, type Subscriber, untilReady } from './listener.js'
import type { ListenerSlots } from './slots.js'

export type { Beside, Entry, FollowedConversation, Piece, Render } from './entry.js'
export type { Subscriber } from './listener.js'
export { streamLifetime, toSignal } from './open-streams.js'
export { createListenerSlots, type ListenerLimits } from './slots.js'

export interface ConversationStreamsOptions extends FeedDeps {
  /** The places for listeners, which the streams of several protocols share. */
  slots: ListenerSlots
  meter: Pick<Meter, 'begin'>
  /** Bytes that may wait for one listener before it is disconnected. */
  pendingBytes: number
}

export type ConversationStreams = ReturnType<typeof createConversationStreams>

/** Maximum milliseconds that a response waits until the listeners of this process got the event. */
const listenersFirstMs = 500
/** Streams the events of conversations to their listeners. */
export function createConversationStreams(options: ConversationStreamsOptions) {
  const { timers, clock, slots, pendingBytes, log, meter } = options
  const feeds = new Feeds(options)
  const heartbeat = new Heartbeat(timers, clock)
  let stopped = false

  async function serve(
    conversation: FollowedConversation,
    subscriber: Subscriber,
    sink: Sink,
    since: number,
  ): Promise<void> {
    const feed = await feeds.open(conversation)
    if (stopped) return sink.end()
    const listener = new Listener(subscriber, sink, {
      maxPending: pendingBytes,
      now: () => clock.now(),
      since,
    })
    heartbeat.add(listener)
    const unwatch = subscriber.watch(() => listener.end('unauthorized'))
    sink.onClose(() => {
      listener.closed = true
      unwatch()
      heartbeat.remove(listener)
      feed.leave(listener)
    })
    if (subscriber.firstFrames !== undefined) {
      for (const frame of subscriber.firstFrames) listener.send(frame)
      subscriber.firstFrames = undefined
      // The first frames alone may exceed the limit of pending bytes, which later frames must keep.
      await untilReady(listener)
      subscriber.onFirstFramesTaken?.()
    }
    await feed.join(listener)
    await feed.greet(listener)
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
      const since = clock.now()
      // Before the response begins, so that a failure is an error response and not a broken stream.
      await feeds.open(conversation)
      const release = slots.reserve(subscriber.userId)
      return (sink) => {
        const endTime = meter.begin(conversation.botId, 'listener_time')
        sink.onClose(() => {
          endTime()
          release()
          subscriber.onFirstFramesTaken?.()
        })
        serve(conversation, subscriber, sink, since).catch((err: unknown) => {
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

    /** Ends all streams, so that clients reconnect to another process or to the next start. */
    stop(): void {
      stopped = true
      heartbeat.stop()
      feeds.close()
    },
  }
}

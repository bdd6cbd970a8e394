import { withoutEndSlashes } from '../../domain/addresses.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Clock } from '../../platform/clock.js'
import { decodeJson } from '../../platform/db/columns.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import { readEvents } from '../../platform/events/read.js'
import { factLifetime } from '../../platform/fact-cache.js'
import { createLruCache } from '../../platform/lru-cache.js'
import type { BotsService, SignalPosting } from '../bots/bots/index.js'
import type { Target } from '../calls/targets/index.js'
import {
  type ConversationsService,
  conversationEvents,
  publicIdOf,
} from '../conversations/conversations/index.js'
import type { MessagesService } from '../conversations/messages/index.js'
import { streamIdIn } from './message-streams.js'
import type { Render } from './streams/index.js'

export interface SignalDeliveriesDeps {
  db: Db
  bus: EventBus
  clock: Clock
  publisher: EventPublisher
  domainEvents: Pick<EventDispatcher, 'raise'>
  bots: Pick<BotsService, 'findSignalPosting' | 'findSignalAddress'>
  conversations: Pick<ConversationsService, 'findAll' | 'findFor'>
  messages: Pick<MessagesService, 'find'>
  render: Render
}

/** An event of the log, as passed to its taps. */
type LoggedEvent = Parameters<Parameters<EventPublisher['tap']>[0]>[1]

/** Topic of the hint that it may have changed whether the signals of a bot are posted; the key is the bot. */
const postingTopic = 'signal-posting'
const maxKnown = 10_000
/** Milliseconds in which the webhook of an app must respond. */
const timeoutMs = 10_000

/** Events without a signal. */
const withoutSignal: ReadonlySet<string> = new Set([
  conversationEvents.conversationDeleted,
  conversationEvents.messageUpdated,
  conversationEvents.typingStarted,
  conversationEvents.typingStopped,
  conversationEvents.webchatVisibility,
  conversationEvents.webchatConfig,
  conversationEvents.webchatCustom,
])

/**
 * Requests the delivery of every signal of bots whose chat has a webhook, in the transaction of its
 * event, so that no signal is lost and none is posted for a rolled-back event.
 */
export function createSignalDeliveries(deps: SignalDeliveriesDeps) {
  const { db, bus, clock, publisher, domainEvents, bots, conversations, messages, render } = deps
  // Not a fact cache: missing entries are read in the transaction of the caller.
  const known = createLruCache<string, { posting: SignalPosting | undefined; readAt: number }>(
    maxKnown,
  )
  let forgotten = 0

  function forgetHere(botId: string): void {
    forgotten += 1
    known.delete(botId)
  }

  publisher.tap((tx, event) => {
    if (withoutSignal.has(event.type)) return undefined
    const found = known.get(event.botId)
    if (found === undefined || Math.abs(clock.now() - found.readAt) >= factLifetime) {
      return readAndRequest(tx, event)
    }
    return found.posting && request(tx, event, found.posting)
  })
  // Other processes change bots, too.
  bus.subscribe(
    { topic: postingTopic },
    {
      onHint: ({ key }) => forgetHere(key),
      onGap: () => {
        forgotten += 1
        known.clear()
      },
    },
  )

  async function readAndRequest(tx: Tx, event: LoggedEvent): Promise<void> {
    const { botId } = event
    const before = forgotten
    const readAt = clock.now()
    const posting = await bots.findSignalPosting(tx, botId)
    // A value read before the cache was cleared may be stale.
    if (forgotten === before) known.set(botId, { posting, readAt })
    if (posting !== undefined) await request(tx, event, posting)
  }

  async function request(tx: Tx, event: LoggedEvent, posting: SignalPosting): Promise<void> {
    const { botId, stream: conversationId } = event
    const [conversation] = await conversations.findAll(tx, botId, [conversationId])
    if (conversation === undefined || posting.elsewhere.has(conversation.integration)) return
    const position = `${conversationId}/${event.sequence}`
    const subjects = [position]
    if (await completesStream(tx, event)) subjects.unshift(`${position}/${complete}`)
    for (const subjectId of subjects) {
      await domainEvents.raise(tx, 'delivery.requested', {
        botId,
        integration: posting.alias,
        kind: 'signal',
        subjectId,
        orderingKey: conversationId,
      })
    }
  }

  /** Whether the event is a message that completes a message stream. */
  async function completesStream(
    tx: Tx,
    { botId, type, subjectId }: LoggedEvent,
  ): Promise<boolean> {
    if (type !== conversationEvents.messageCreated) return false
    const message = await messages.find(tx, botId, subjectId)
    if (message?.direction !== 'outgoing') return false
    const { metadata } = decodeJson<Record<string, unknown>>(message.payload)
    return streamIdIn(metadata) !== undefined
  }

  return {
    /** Clears the cache of whether the signals of a bot are posted, in all processes. */
    forgetBot(botId: string): void {
      forgetHere(botId)
      bus.publish({ topic: postingTopic, key: botId })
    },

    /**
     * The signal at a position in the log of its conversation, as JSON text. Undefined when its
     * subject was deleted since, or the log no longer reaches back to it.
     */
    async describe(botId: string, position: string): Promise<string | undefined> {
      const [conversationId = '', number, part] = position.split('/')
      const sequence = Number(number)
      const found = await conversations.findFor(db, { botId, userId: '' }, conversationId)
      if (found === undefined) return undefined
      const [event] = await readEvents(db, conversationId, sequence - 1, 1)
      if (event?.sequence !== sequence) return undefined
      const followed = { botId, id: conversationId, publicId: publicIdOf(found.conversation) }
      const [entry] = await render(followed, [event])
      const frame = part === complete ? entry?.frames.at(-2) : entry?.frames.at(-1)
      return frame?.json
    },

    /** The target for calls to the webhook of a bot's chat; undefined if it has none. */
    async findTarget(botId: string): Promise<Target | undefined> {
      const address = await bots.findSignalAddress(botId)
      if (address === undefined) return undefined
      return {
        at: { url: `${withoutEndSlashes(address.url)}/` },
        headers: address.secret === '' ? {} : { 'x-secret-key': address.secret },
        secrets: address.signingSecrets,
        timeoutMs,
        plain: true,
      }
    },
  }
}

/**
 * Last part of the position of a `message_stream_complete`, which precedes the `message_created` of
 * the same event.
 */
const complete = 'complete'

import { LRUCache } from 'lru-cache'
import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Clock } from '../../platform/clock.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import { readEvents } from '../../platform/events/read.js'
import type { BotsService, SignalPosting } from '../bots/bots/index.js'
import {
  type ConversationsService,
  news,
  publicIdOf,
} from '../conversations/conversations/index.js'
import type { Outbox } from '../deliveries/index.js'
import { streamIdIn } from './message-streams.js'
import { findOutgoingPayload, findOwner } from './signal-store.js'
import type { Render } from './streams/index.js'

export interface SignalPostsDeps {
  db: Db
  bus: EventBus
  clock: Clock
  events: EventPublisher
  outbox: Pick<Outbox, 'enqueue'>
  bots: Pick<BotsService, 'findSignalPosting'>
  conversations: Pick<ConversationsService, 'findFor'>
  render: Render
}

/** What happened, as the taps of the log get it. */
type LoggedEvent = Parameters<Parameters<EventPublisher['tap']>[0]>[1]

/** Topic of the hint that it may have changed whether the signals of a bot are posted; the key is the bot. */
const postingTopic = 'signal-posting'
/** Milliseconds that a bot is believed to post nothing, or as it did, should a hint be lost. */
const maxAge = 5000
const maxKnown = 10_000

/** What may happen in a conversation without a signal of it. */
const untold: ReadonlySet<string> = new Set([news.conversationDeleted])

/**
 * Puts every signal into the outbox of bots whose chat has a webhook, in the transaction of what it
 * tells of: none is lost, and none is posted that did not happen.
 */
export function createSignalPosts(deps: SignalPostsDeps) {
  const { db, bus, clock, events, outbox, bots, conversations, render } = deps
  const known = new LRUCache<string, { posting: SignalPosting | undefined; readAt: number }>({
    max: maxKnown,
  })
  let forgotten = 0

  function forget(botId: string): void {
    forgotten += 1
    known.delete(botId)
  }

  events.tap((tx, event) => {
    if (untold.has(event.type)) return undefined
    const found = known.get(event.botId)
    if (found === undefined || Math.abs(clock.now() - found.readAt) >= maxAge) {
      return askAndPut(tx, event)
    }
    return found.posting && put(tx, event, found.posting)
  })

  async function askAndPut(tx: Tx, event: LoggedEvent): Promise<void> {
    const { botId } = event
    const before = forgotten
    const readAt = clock.now()
    const posting = await bots.findSignalPosting(tx, botId)
    // What was read before somebody forgot the bot may be old already.
    if (forgotten === before) known.set(botId, { posting, readAt })
    if (posting !== undefined) await put(tx, event, posting)
  }

  async function put(tx: Tx, event: LoggedEvent, posting: SignalPosting): Promise<void> {
    const { botId, stream: conversationId, type, subjectId } = event
    const owner = await findOwner(tx, botId, conversationId)
    if (owner === undefined || posting.elsewhere.has(owner)) return
    const place = placeOf(conversationId, event.sequence)
    const places = [place]
    if (type === news.messageCreated) {
      const written = await findOutgoingPayload(tx, botId, subjectId)
      if (streamIdIn(written?.metadata) !== undefined) places.unshift(`${place}/${complete}`)
    }
    for (const subject of places) {
      await outbox.enqueue(tx, {
        ...{ botId, integration: posting.alias, kind: 'signal', subjectId: subject },
        orderingKey: conversationId,
      })
    }
  }

  return {
    /** Listens for changes that other processes make. */
    start(): void {
      bus.subscribe(
        { topic: postingTopic },
        {
          onHint: ({ key }) => forget(key),
          onGap: () => {
            forgotten += 1
            known.clear()
          },
        },
      )
    },

    /** To be told when a bot or what is installed in it was changed or removed. */
    forget(botId: string): void {
      forget(botId)
      bus.publish({ topic: postingTopic, key: botId })
    },

    /**
     * The signal at a place, as JSON text. Undefined when what it tells of was deleted since, or the
     * log does not reach back to it any more.
     */
    async describe(botId: string, place: string): Promise<string | undefined> {
      const [conversationId = '', number, part] = place.split('/')
      const sequence = Number(number)
      const found = await conversations.findFor(db, { botId, userId: '' }, conversationId)
      if (found === undefined) return undefined
      const [event] = await readEvents(db, conversationId, sequence - 1, 1)
      if (event?.sequence !== sequence) return undefined
      const room = { botId, id: conversationId, publicId: publicIdOf(found.conversation) }
      const [entry] = await render(room, [event])
      const frame = part === complete ? entry?.frames.at(-2) : entry?.frames.at(-1)
      return frame?.json
    },
  }
}

/** The last part of the place of a signal that goes before the one that has the number. */
const complete = 'complete'

/** Where a signal stands: the number of its event in the log of the conversation. */
function placeOf(conversationId: string, sequence: number): string {
  return `${conversationId}/${sequence}`
}

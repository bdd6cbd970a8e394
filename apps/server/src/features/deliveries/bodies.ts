import type { Db } from '../../platform/db/schema.js'
import { groupBy } from '../../platform/group-by.js'
import { type EventsService, toEvent, type WireEvent } from '../conversations/events/index.js'
import type { DescribedMessage, MessagesService } from '../conversations/messages/index.js'
import type { Changes } from '../conversations/object-changes/index.js'
import { type DeliveryRow, receiverKeyOf } from './store.js'

/** Body of `event_received`, for bots. */
interface EventReceived {
  event: WireEvent
}

/** Body of `message_created`, for integrations: their own tags have no prefix. */
interface MessageCreated extends DescribedMessage {
  type: string
  payload: Record<string, unknown>
}

/** Body of `message_updated`, for integrations that request it. */
interface MessageUpdated extends Omit<MessageCreated, 'message'> {
  currentMessage: Record<string, unknown>
  previousMessage: Record<string, unknown>
}

/** Body of `conversation_updated`, for integrations that request it. */
interface ConversationUpdated {
  currentConversation: Record<string, unknown>
  previousConversation: Record<string, unknown>
}

/** The body that a delivery sends. */
interface DeliveryBody {
  /** Type of the event; otherwise the kind of the delivery. */
  type: string
  /** JSON text. */
  body: string
}

/**
 * Returns the body of a signal of the chat as JSON text; undefined when its subject was deleted.
 * @param subjectId position of the signal in the log of its conversation
 */
export type DescribeSignal = (botId: string, subjectId: string) => Promise<string | undefined>

export interface DeliveryBodiesDeps {
  db: Db
  events: Pick<EventsService, 'findAll'>
  messages: Pick<MessagesService, 'describe'>
  changes: Pick<Changes, 'findAll'>
  describeSignal: DescribeSignal
}

/** Identifies what a delivery body is built from. */
type BodySource = Pick<DeliveryRow, 'bot_id' | 'integration' | 'kind' | 'subject_id'>

/** Returns the bodies of deliveries, in their order; undefined for one whose subject was deleted. */
export type BuildBodies = (
  deliveries: readonly BodySource[],
) => Promise<(DeliveryBody | undefined)[]>

/** Builds bodies when deliveries are sent, from the current rows. */
export function createBuildBodies(deps: DeliveryBodiesDeps): BuildBodies {
  const { db, events, messages, changes, describeSignal } = deps

  /** Returns bodies of deliveries of one kind to one receiver, by the ids of their subjects. */
  async function bodiesOfKind(
    { bot_id: botId, integration, kind }: BodySource,
    ids: readonly string[],
  ): Promise<Map<string, DeliveryBody>> {
    const bodies = new Map<string, DeliveryBody>()
    switch (kind) {
      case 'event_received':
        for (const { row, payload } of await events.findAll(db, botId, ids)) {
          // The message of an event may have been deleted.
          if (row.payload === null && isEmpty(payload)) continue
          const body: EventReceived = { event: toEvent(row, payload) }
          bodies.set(row.id, { type: row.type, body: JSON.stringify(body) })
        }
        return bodies
      case 'message_created': {
        const found = await messages.describe(db, botId, ids, integration || undefined)
        for (const [id, described] of found) {
          const { type, payload } = described.message
          const body: MessageCreated = { type, payload, ...described }
          bodies.set(id, { type: kind, body: JSON.stringify(body) })
        }
        return bodies
      }
      case 'signal':
        for (const id of ids) {
          const body = await describeSignal(botId, id)
          if (body !== undefined) bodies.set(id, { type: kind, body })
        }
        return bodies
      case 'message_updated': {
        const all = await changes.findAll(db, botId, ids)
        const about = all.map(({ objectId }) => objectId)
        const described = await messages.describe(db, botId, about, integration)
        for (const { id, objectId, before: previousMessage, after: currentMessage } of all) {
          const now = described.get(objectId)
          if (now === undefined) continue
          const { message, ...rest } = now
          const { type, payload } = message
          const body: MessageUpdated = { type, payload, ...rest, currentMessage, previousMessage }
          bodies.set(id, { type: kind, body: JSON.stringify(body) })
        }
        return bodies
      }
      case 'conversation_updated':
        for (const { id, before, after } of await changes.findAll(db, botId, ids)) {
          const body: ConversationUpdated = {
            currentConversation: after,
            previousConversation: before,
          }
          bodies.set(id, { type: kind, body: JSON.stringify(body) })
        }
        return bodies
      default:
        return kind satisfies never
    }
  }

  return async (deliveries) => {
    const groupOf = (delivery: BodySource) => `${receiverKeyOf(delivery)}/${delivery.kind}`
    const bodies = new Map<string, ReadonlyMap<string, DeliveryBody>>()
    for (const [key, group] of groupBy(deliveries, groupOf)) {
      const [first] = group
      if (first === undefined) continue
      const ids = [...new Set(group.map(({ subject_id }) => subject_id))]
      bodies.set(key, await bodiesOfKind(first, ids))
    }
    return deliveries.map((delivery) => bodies.get(groupOf(delivery))?.get(delivery.subject_id))
  }
}

function isEmpty(payload: Record<string, unknown>): boolean {
  return Object.keys(payload).length === 0
}

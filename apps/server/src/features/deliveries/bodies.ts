import type { Db, Tx } from '../../schema.js'
import { type EventsService, toEvent, type WireEvent } from '../events/index.js'
import type { DescribedMessage, Messages } from '../messages/index.js'
import type { DeliveryRow } from './store.js'

/** Body of `event_received`, which a bot gets. */
interface EventReceived {
  event: WireEvent
}

/** Body of `message_created`, which an integration gets: its own tags stand under bare names. */
interface MessageCreated extends DescribedMessage {
  type: string
  payload: Record<string, unknown>
}

/** What a delivery says to its receiver. */
export interface DeliveryBody {
  /** Kind of what is told: the type of the event, or else the kind of the delivery again. */
  type: string
  body: EventReceived | MessageCreated
}

interface DeliveryBodiesDeps {
  events: Pick<EventsService, 'find'>
  messages: Pick<Messages, 'describe'>
}

export type DeliveryBodies = ReturnType<typeof createDeliveryBodies>

/** Makes the bodies of deliveries of what the database says when they are sent. */
export function createDeliveryBodies({ events, messages }: DeliveryBodiesDeps) {
  return {
    /** The body of a delivery; undefined when what it tells of was deleted since. */
    async of(
      executor: Db | Tx,
      delivery: Pick<DeliveryRow, 'bot_id' | 'integration' | 'kind' | 'subject_id'>,
    ): Promise<DeliveryBody | undefined> {
      const { bot_id: botId, integration, kind, subject_id: id } = delivery
      switch (kind) {
        case 'event_received': {
          const event = await events.find(executor, botId, id)
          // The message of an event may be gone, and with it what there was to tell.
          if (event === undefined || (event.row.payload === null && isEmpty(event.payload))) {
            return undefined
          }
          return { type: event.row.type, body: { event: toEvent(event.row, event.payload) } }
        }
        case 'message_created': {
          const described = await messages.describe(executor, botId, [id], integration || undefined)
          const told = described.get(id)
          if (told === undefined) return undefined
          const { type, payload } = told.message
          return { type: kind, body: { type, payload, ...told } }
        }
        default:
          return kind satisfies never
      }
    },
  }
}

function isEmpty(payload: Record<string, unknown>): boolean {
  return Object.keys(payload).length === 0
}

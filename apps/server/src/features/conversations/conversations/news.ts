import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventPublisher } from '../../../platform/events/publisher.js'
import * as places from './place-store.js'

/** Types of the events in the log of a conversation. */
export const news = {
  /** The subject is the message. */
  messageCreated: 'message_created',
  /** The subject was the message; `data` has the native id of its author. */
  messageDeleted: 'message_deleted',
  /** The subject is the custom event, or empty if a bot sent it; `data` is a {@link CustomEvent}. */
  eventCreated: 'event_created',
  /** The subject is the user, by native id; `data` has the id under which others know it. */
  participantAdded: 'participant_added',
  participantRemoved: 'participant_removed',
  /** The subject is the stream of a bot's message; `data` is the delta. */
  streamDelta: 'message_stream_delta',
  streamAborted: 'message_stream_abort',
  /** The last of a conversation. */
  conversationDeleted: 'conversation_deleted',
} as const

/** What the log says of a custom event. */
export interface CustomEvent {
  /** Id under which the sender is known. */
  userId: string
  isBot: boolean
  /** ISO 8601 time of the event if it is stored; otherwise it is the time of the signal. */
  createdAt?: string
  payload: Record<string, unknown>
}

/** What happened, in the words of the log. */
export interface News {
  type: (typeof news)[keyof typeof news]
  subjectId: string
  data?: unknown
}

/** Where something stands in the log of a conversation. */
export interface Told {
  sequence: number
  /** ISO 8601 time. */
  createdAt: string
}

/** A conversation inside a bot. */
export interface ConversationRef {
  botId: string
  /** Native id. */
  id: string
}

/** Writes what happens in conversations beside new messages, in the transaction of the change. */
export function conversationLog(deps: { clock: Clock; events: EventPublisher }) {
  const { clock, events } = deps
  return {
    /**
     * Takes the next number of a conversation, which waits for whoever took the one before, and
     * writes the event. Undefined if there is no such conversation.
     * @param removedMessages by how many the conversation has fewer messages now
     */
    async tell(
      tx: Tx,
      conversation: ConversationRef,
      { type, subjectId, data }: News,
      removedMessages = 0,
    ): Promise<Told | undefined> {
      const place = await places.takeNumber(tx, {
        botId: conversation.botId,
        conversationId: conversation.id,
        removedMessages,
      })
      if (place === undefined) return undefined
      const createdAt = isoTime(clock.now())
      await events.publish(tx, {
        stream: conversation.id,
        sequence: place.last_sequence,
        botId: conversation.botId,
        type,
        subjectId,
        data,
        createdAt,
      })
      return { sequence: place.last_sequence, createdAt }
    },
  }
}

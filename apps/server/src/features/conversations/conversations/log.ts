import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventPublisher } from '../../../platform/events/publisher.js'
import { type ConversationRef, takeNumber } from './slot-store.js'

/** Types of the events in the log of a conversation. */
export const conversationEvents = {
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
  /** The subject is the message, whose content or feedback changed. */
  messageUpdated: 'message_updated',
  /** A bot begins or stops to write; `data` may have a `timeout` in milliseconds. */
  typingStarted: 'typing_started',
  typingStopped: 'typing_stopped',
  /** Requests of a bot to the page around a web chat: `data` is that of the signal. */
  webchatVisibility: 'webchat_visibility',
  webchatConfig: 'webchat_config',
  webchatCustom: 'webchat_custom',
  /** The last of a conversation. */
  conversationDeleted: 'conversation_deleted',
} as const

/** Data of a custom event in the log. */
export interface CustomEvent {
  /** Id under which the sender is known. */
  userId: string
  isBot: boolean
  /** ISO 8601 time of the event if it is stored; otherwise it is the time of the signal. */
  createdAt?: string
  payload: Record<string, unknown>
}

/** An event that has no number in the log yet. */
export interface EventDraft {
  type: (typeof conversationEvents)[keyof typeof conversationEvents]
  subjectId: string
  data?: unknown
}

/** The position of an event in the log of its conversation. */
export interface EventPosition {
  /** Number of the event in that log, from 1. */
  sequence: number
  /** ISO 8601 time. */
  createdAt: string
}

/**
 * Logs an event beside new messages, in the transaction of the change: takes the next number of the
 * conversation, which waits for the transaction that took the number before, and stores the event.
 * Undefined if there is no such conversation.
 * @param removedMessages number of messages that the conversation has lost
 */
export async function appendEvent(
  { clock, publisher }: { clock: Clock; publisher: EventPublisher },
  tx: Tx,
  conversation: ConversationRef,
  { type, subjectId, data }: EventDraft,
  removedMessages = 0,
): Promise<EventPosition | undefined> {
  const taken = await takeNumber(tx, {
    botId: conversation.botId,
    conversationId: conversation.id,
    removedMessages,
  })
  if (taken === undefined) return undefined
  const createdAt = isoTime(clock.now())
  await publisher.publish(tx, {
    stream: conversation.id,
    sequence: taken.last_sequence,
    botId: conversation.botId,
    type,
    subjectId,
    data,
    createdAt,
  })
  return { sequence: taken.last_sequence, createdAt }
}

import type { Static } from 'typebox'
import type { ChatEvent, ChatMessage } from './resources/chat/entities.js'

type Message = Static<typeof ChatMessage>

/** What listeners receive, by the type of the signal. */
export interface SignalData {
  message_created: Message & {
    /** Whether the bot wrote the message. */
    isBot: boolean
  }
  message_deleted: {
    id: string
    conversationId: string
    /** Author of the message. */
    userId: string
  }
  event_created: Omit<Static<typeof ChatEvent>, 'id'> & {
    /** `null` for events of the bot, which cannot be fetched. */
    id: string | null
    isBot: boolean
  }
  participant_added: { conversationId: string; participantId: string }
  participant_removed: { conversationId: string; participantId: string }
  /** A piece of a message that the bot is writing. */
  message_stream_delta: {
    streamId: string
    conversationId: string
    userId: string
    createdAt: string
    /** Position among the pieces of the message, as the bot counts them. */
    sequence: number
    delta: string
    clientMessageId?: string
  }
  /** The pieces are complete; `message_created` follows. */
  message_stream_complete: { streamId: string; message: Message }
  /** The bot discarded the message that it was writing. */
  message_stream_abort: { streamId: string; conversationId: string }
  /** Signals are missing that can no longer be sent: list the messages again. */
  reset: { conversationId: string }
}

/** A change in a conversation. Newer servers may send additional types: ignore them. */
export type Signal = {
  [Type in keyof SignalData]: {
    type: Type
    data: SignalData[Type]
    /** Position in the conversation; signals without one are not repeated after reconnecting. */
    sequence: number | undefined
  }
}[keyof SignalData]

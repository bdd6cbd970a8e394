/** An exchange of messages on a channel. */
export interface ConversationsTable {
  id: string
  bot_id: string
  /** Id chosen by an app at the chat address; unique in the bot. */
  foreign_id: string | null
  /** Alias of its installation, or the given name of an integration. */
  integration: string
  channel: string
  /** JSON map of strings. */
  tags: string
  /** JSON map of strings. */
  properties: string
  /** The chat user that owns the conversation. */
  owner_user_id: string | null
  /** 1 until the first chat user who opens it or writes to it becomes its owner. */
  claimable: number
  message_count: number
  /** Number of the last event in the log of this conversation; 0 when there is none. */
  last_sequence: number
  /** Milliseconds since the Unix epoch of the last message; 0 when there is none. */
  last_message_at: number
  /** The newest of the workflows that run in it; null when none does. */
  current_workflow_id: string | null
  /** The event that told the bot that a web chat was opened; null until then. */
  start_event_id: string | null
  created_at: string
  updated_at: string
}

/**
 * Participants of conversations. The bot takes part in all; it has a row only where it was added.
 */
export interface ParticipantsTable {
  conversation_id: string
  user_id: string
  bot_id: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    conversations: ConversationsTable
    participants: ParticipantsTable
  }
}

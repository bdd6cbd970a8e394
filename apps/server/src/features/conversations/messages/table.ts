/** A message of a conversation, in the shape for bots and integrations. */
export interface MessagesTable {
  id: string
  bot_id: string
  conversation_id: string
  /** Author; the id of the bot for its own messages. */
  user_id: string
  type: string
  /** JSON object; data besides the content is in its `metadata`. */
  payload: string
  /** `incoming` goes to the bot, `outgoing` comes from it. */
  direction: 'incoming' | 'outgoing'
  /** JSON map of strings; null when there are none. */
  tags: string | null
  /** `synthetic` if it has no author. */
  origin: 'synthetic' | null
  /** Number of the event of its creation in the log of the conversation; 0 if it was imported. */
  sequence: number
  /** Strictly increasing within a conversation. */
  created_at: string
  /** Null until the first change. */
  updated_at: string | null
}

/** A message to append to its conversation later. */
export interface ScheduledMessagesTable {
  /** Id that the message will have. */
  id: string
  bot_id: string
  conversation_id: string
  user_id: string
  type: string
  payload: string
  direction: MessagesTable['direction']
  tags: string | null
  origin: MessagesTable['origin']
  due_at: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    messages: MessagesTable
    scheduled_messages: ScheduledMessagesTable
  }
}

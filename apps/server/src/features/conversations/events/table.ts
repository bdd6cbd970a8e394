/** What happened in a bot, as it is delivered to the bot and as it is listed. */
export interface BotEventsTable {
  id: string
  bot_id: string
  /** Alias of the integration that made it; null for the bot and the server. */
  integration: string | null
  /** As the bot knows it: those of integrations are named `<alias>:<name>`. */
  type: string
  /** JSON object; null when it is built from the message each time. */
  payload: string | null
  conversation_id: string | null
  user_id: string | null
  message_id: string | null
  workflow_id: string | null
  /** Name of the recurring event that made it. */
  recurring: string | null
  status: 'pending' | 'processed' | 'ignored' | 'failed' | 'scheduled' | 'canceled'
  failure_reason: string | null
  created_at: string
  /**
   * When it was released, if that was later: it was scheduled, or its bot had no address. Its age counts
   * from then on.
   */
  released_at: string | null
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_events: BotEventsTable
  }
}

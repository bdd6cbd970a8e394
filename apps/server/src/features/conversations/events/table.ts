/** An event in a bot, as delivered to the bot and as listed. */
export interface BotEventsTable {
  id: string
  bot_id: string
  /** Alias of the integration that created it; null for the bot and the server. */
  integration: string | null
  /** Name of the event for the bot: `<alias>:<name>` for events of integrations. */
  type: string
  /** JSON object; null when it is built from the message each time. */
  payload: string | null
  conversation_id: string | null
  user_id: string | null
  message_id: string | null
  workflow_id: string | null
  /** Name of the recurring event that created it. */
  recurring: string | null
  status: 'pending' | 'processed' | 'ignored' | 'failed' | 'scheduled' | 'canceled'
  failure_reason: string | null
  created_at: string
  /**
   * Time of its release, if later than its creation: it was scheduled, or its bot had no address. The
   * retention counts from then.
   */
  released_at: string | null
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_events: BotEventsTable
  }
}

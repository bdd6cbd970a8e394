/** What happened in bots, beside the attempts at deliveries, which have a table of their own. */
export interface BotLogsTable {
  id: string
  bot_id: string
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  user_id: string | null
  workflow_id: string | null
  conversation_id: string | null
  message_id: string | null
  event_id: string | null
  /** When it happened, according to the writer. */
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_logs: BotLogsTable
  }
}

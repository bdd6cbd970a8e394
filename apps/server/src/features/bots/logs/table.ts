/** Log lines of bots, except attempts at deliveries, which have a table of their own. */
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
  /** Time of the line according to its writer. */
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_logs: BotLogsTable
  }
}

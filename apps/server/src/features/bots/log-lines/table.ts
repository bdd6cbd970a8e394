import type { LogLevel } from '../../../domain/log-lines.js'

/**
 * Lines of the logs of bots and integrations. Attempts at deliveries are read as lines too, from the table that they
 * have anyway.
 */
export interface LogLinesTable {
  id: string
  /** Workspace whose members read the line: that of the bot, or of the developers of the integration. */
  workspace_id: string
  /** In the log of an integration the bot that the line is about; empty if it is about none. */
  bot_id: string
  /** The integration whose log contains the line; null in the log of a bot. */
  integration_id: string | null
  level: LogLevel
  message: string
  user_id: string | null
  workflow_id: string | null
  conversation_id: string | null
  message_id: string | null
  event_id: string | null
  /** Time at which it happened, according to the writer. */
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    log_lines: LogLinesTable
  }
}

import type { JsonColumn } from '../../../platform/db/columns.js'

/** What was set for the web chat of a bot; what has no row follows from the bot. */
interface WebchatSettingsTable {
  bot_id: string
  /** A member of `WebchatSettings`, or `allowedOrigins`. */
  name: string
  value: JsonColumn
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    webchat_settings: WebchatSettingsTable
  }
}

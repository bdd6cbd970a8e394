import type { JsonColumn } from '../../../platform/db/columns.js'

/** Settings of the web chat of a bot. A setting without a row has a default that follows from the bot. */
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

/** A state that a bot or an integration stores for an owner, such as a conversation or a user. */
export interface StatesTable {
  id: string
  bot_id: string
  type: 'conversation' | 'user' | 'bot' | 'integration' | 'workflow'
  /** Id of the owner. */
  owner_id: string
  /** Alias of the integration that stores it; empty for the bot. */
  integration: string
  name: string
  /** JSON object. */
  payload: string
  /** Milliseconds without a change after which it expires; null for never. */
  expiry: number | null
  /** Time of its expiry; null for never. */
  expires_at: string | null
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    states: StatesTable
  }
}

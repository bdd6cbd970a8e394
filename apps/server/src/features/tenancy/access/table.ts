/** A credential of the main interface. Only the hash of its value is stored. */
export interface AccessTokensTable {
  id: string
  /** Personal tokens act for an account, bot keys for one bot, integration keys where it is installed. */
  kind: 'personal' | 'bot' | 'integration'
  /** SHA-256 of the value in hex; unique. */
  hash: string
  /** Owner of a personal token. */
  account_id: string | null
  /** The workspace of the bot or the integration of a key. */
  workspace_id: string | null
  /** The bot of a bot key. */
  bot_id: string | null
  /** The integration of an integration key. */
  integration_id: string | null
  note: string
  created_at: string
  /** Up to a minute late. */
  last_used_at: string | null
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    access_tokens: AccessTokensTable
  }
}

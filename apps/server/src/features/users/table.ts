/** Somebody who takes part in conversations of a bot: a chat user or a user of another integration. */
export interface UsersTable {
  id: string
  bot_id: string
  /** Id chosen by an app at the chat address; unique in the bot. */
  foreign_id: string | null
  /** Alias of the installation through which the user came; empty for the bot and what it makes. */
  integration: string
  name: string | null
  picture_url: string | null
  /** Free text. */
  profile: string | null
  /** JSON map of strings. */
  tags: string
  /** JSON map of strings. */
  properties: string
  /** JSON map of strings; deprecated twin of the properties. */
  attributes: string
  created_at: string
  updated_at: string
}

export interface UsersSchema {
  users: UsersTable
}

/** A participant in conversations of a bot: a chat user or a user of another integration. */
export interface UsersTable {
  id: string
  bot_id: string
  /** Id chosen by an app at the chat address; unique in the bot. */
  foreign_id: string | null
  /**
   * Alias of the installation that the user came through; empty for the bot and the users that it
   * creates.
   */
  integration: string
  name: string | null
  picture_url: string | null
  /** Free text. */
  profile: string | null
  /** JSON map of strings. */
  tags: string
  /** JSON map of strings. */
  properties: string
  /** JSON map of strings; the deprecated form of the properties. */
  attributes: string
  /** JSON object of a web chat, about the user; null if it sent none. */
  data: string | null
  /** Keys issued until then are refused; null if none were revoked. */
  keys_revoked_at: string | null
  /** 1 while chatting as this user is refused. */
  banned: number
  created_at: string
  updated_at: string
}

/** A native or chosen id of a deleted user, which keys may still contain. */
interface RetiredUserIdsTable {
  bot_id: string
  id: string
  /** Native id of the user. */
  user_id: string
  /** Alias of the installation that the user came through. */
  integration: string
  /** Keys issued until then are refused, also for a later user of the id. */
  keys_revoked_at: string
  /** 1 while the id is refused to all users. */
  banned: number
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    users: UsersTable
    retired_user_ids: RetiredUserIdsTable
  }
}

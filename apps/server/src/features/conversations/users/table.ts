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
  /** Keys issued until then are refused; null if none were revoked. */
  keys_revoked_at: string | null
  /** 1 while nobody may chat as this user. */
  banned: number
  created_at: string
  updated_at: string
}

/** An id, native or chosen, by which keys may still name a user who was deleted. */
interface RetiredUserIdsTable {
  bot_id: string
  id: string
  /** Native id of the user. */
  user_id: string
  /** Alias of the installation through which the user came. */
  integration: string
  /** Keys issued until then are refused, whoever has the id by now. */
  keys_revoked_at: string
  /** 1 while nobody may have the id. */
  banned: number
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    users: UsersTable
    retired_user_ids: RetiredUserIdsTable
  }
}

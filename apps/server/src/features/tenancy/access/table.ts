import type { Generated } from 'kysely'

/** A credential of the main interface. Only the hash of its value is stored. */
export interface AccessTokensTable {
  id: string
  /**
   * Personal tokens and the sessions of browsers act for an account, bot keys for one bot, integration
   * keys where it is installed.
   */
  kind: 'personal' | 'session' | 'bot' | 'integration'
  /** 0 or 1: whether a personal token may only read. */
  read_only: Generated<number>
  /** SHA-256 of the value in hex; unique. */
  hash: string
  /** Owner of a personal token or a session. */
  account_id: string | null
  /** The workspace of the bot or the integration of a key; the only workspace of a personal token with that limit. */
  workspace_id: string | null
  /** The bot of a bot key; the only bot of a personal token with that limit. */
  bot_id: string | null
  /** The integration of an integration key. */
  integration_id: string | null
  /** The deployment that a key was made for; null for the keys that people make. */
  deployment_id: string | null
  note: string
  created_at: string
  /** Up to a minute late. */
  last_used_at: string | null
  /** Time of its expiry; null for those that are valid until they are deleted. */
  expires_at: string | null
  /** Browser and system of a session; null if they are unknown. */
  device: Generated<string | null>
  /** Network address from which a session began. */
  address: Generated<string | null>
  /** 0 or 1: whether a session was begun with a personal token, which a person may have lost. */
  by_token: Generated<number>
}

/** A code that signs one browser in. Only the hash of its value is stored; using it deletes the row. */
export interface SignInCodesTable {
  /** SHA-256 of the value in hex. */
  hash: string
  account_id: string
  expires_at: string
}

/** The bots of which it was said who may see them. */
export interface BotAllowlistsTable {
  bot_id: string
  workspace_id: string
  /** 0 or 1: whether only the members of the list may see it. */
  is_limited: number
}

/** The members on the lists of bots. */
export interface BotAllowlistMembersTable {
  bot_id: string
  workspace_id: string
  account_id: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    access_tokens: AccessTokensTable
    bot_allowlists: BotAllowlistsTable
    bot_allowlist_members: BotAllowlistMembersTable
    sign_in_codes: SignInCodesTable
  }
}

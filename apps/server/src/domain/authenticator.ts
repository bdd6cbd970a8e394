import { type AccountPermission, ApiError, type WorkspacePermission } from '@botstead/contract'
import type { Awaitable } from '../platform/awaitable.js'
import type {
  AccountActor,
  BotActor,
  ChatActor,
  ChatUserActor,
  TokenActor,
  WorkspaceActor,
} from './actor.js'

/**
 * Identifies callers for the HTTP layer. Methods answer from memory when they can, so that the hot path
 * reads no row, and throw `Unauthorized` when they cannot authenticate the caller.
 */
export interface Authenticator {
  /** Throws `Forbidden` for the key of a bot, which acts for no account, and for a token whose limits exclude the permission. */
  account(token: string, permission: AccountPermission): Awaitable<AccountActor>
  /** Accepts the token of a person, of a bot or of an integration, wherever it is valid. */
  token(token: string): Awaitable<TokenActor>
  /** Throws `Forbidden` for the key of a bot, and for a member whose role or token does not include the permission. */
  workspace(
    token: string,
    workspaceId: string,
    permission: WorkspacePermission,
  ): Awaitable<WorkspaceActor>
  /**
   * Throws `Forbidden` for a member whose role or token does not include the permission. The caller that the headers name may be an integration
   * for which the token has no authority: `Caller` says so.
   */
  bot(
    token: string,
    botId: string,
    scope: ScopeHeaders,
    permission: WorkspacePermission,
  ): Awaitable<BotActor>
  /** Throws `ResourceNotFound` for a webhook id that names no chat installation. */
  chat(webhookId: string, address: string): Awaitable<ChatActor>
  chatUser(webhookId: string, userKey: string): Awaitable<ChatUserActor>
  /**
   * The user whom a key opens at this moment, by its own id; undefined if there is none. It reads the
   * database, and throws for a key that is not good any more.
   */
  holderOf(actor: ChatUserActor): Promise<string | undefined>
}

/** The optional headers that name on whose behalf a call inside a bot is made. They prove nothing. */
export interface ScopeHeaders {
  integrationId: string | undefined
  integrationAlias: string | undefined
  integrationName: string | undefined
  userId: string | undefined
  userRole: string | undefined
}

const scopes = { 'x-workspace-id': 'a workspace', 'x-bot-id': 'a bot' } as const

/** A header that names what a call is about. */
export type ScopeHeader = keyof typeof scopes

/**
 * Creates the error for a refused scope header. It is the same for an unknown and a foreign id, because it must not
 * reveal which ids exist. Its `metadata` tells programs that the header is at fault and not the token.
 */
export function scopeRefusal(field: ScopeHeader, { isMissing = false } = {}): ApiError {
  const rule = `The header ${field} must be the id of ${scopes[field]} that the token may use.`
  return new ApiError(
    'Unauthorized',
    isMissing ? `The header ${field} is missing. ${rule}` : rule,
    { metadata: { in: 'headers', field } },
  )
}

import type { WorkspacePermission } from '@botstead/contract'
import type { Rights, TokenLimits } from './rights.js'

/**
 * The authenticated caller of an operation and its scope. Authentication creates it once, services pass
 * it on as one value, and every store function takes its scope from it.
 */
export type Actor =
  | AccountActor
  | TokenActor
  | WorkspaceActor
  | BotActor
  | ChatActor
  | ChatUserActor

/** The call of an operation that the audit log records. */
export interface Origin {
  /** Id of the operation. */
  readonly operation: string
  /** Network address of the caller; of IPv6 the network of 64 bits. */
  readonly address: string
}

/** The proof of a person. */
export interface Authority {
  readonly kind: 'session' | 'token'
  /** Note of the token or session; empty if it has none. */
  readonly note: string
}

/** A person, without a workspace. */
export interface AccountActor {
  readonly kind: 'account'
  readonly accountId: string
  readonly tokenId: string
  readonly authority: Authority
  readonly limits: TokenLimits
  /** Absent in calls that the audit log does not record. */
  readonly origin?: Origin
}

/** The holder of any token; the body of the call names the bot. */
export interface TokenActor {
  readonly kind: 'token'
  readonly tokenId: string
}

/** A person in one workspace of which they are a member. */
export interface WorkspaceActor {
  readonly kind: 'workspace'
  readonly accountId: string
  readonly tokenId: string
  readonly authority: Authority
  /** Absent in calls that the audit log does not record. */
  readonly origin?: Origin
  readonly workspaceId: string
  readonly rights: Rights
  /** The permission of the operation for which the caller was admitted. */
  readonly permission: WorkspacePermission
}

/** A caller that acts inside one bot. */
export interface BotActor {
  readonly kind: 'bot'
  readonly workspaceId: string
  readonly botId: string
  readonly tokenId: string
  readonly caller: Caller
  /** The person with a personal token or a session; undefined for the keys of programs. */
  readonly person?: Pick<AccountActor, 'accountId' | 'authority'> | undefined
}

/** On whose behalf a call inside a bot is made; owners of files and directions of messages follow from it. */
export type Caller =
  | { readonly type: 'bot' }
  | {
      readonly type: 'integration'
      readonly id: string
      readonly name: string
      readonly alias: string
      readonly authority: IntegrationAuthority
    }
  | { readonly type: 'user'; readonly id: string; readonly role: string | undefined }

/**
 * The proof by which a caller acts as an integration. Headers only say which one is meant.
 * - `key`: the key of the integration.
 * - `developer`: the personal token of somebody who may write in the workspace of the integration, and so could make a
 *   key. Development tools run integrations with it.
 * - `none`: a personal token of the workspace of the bot. It may do nothing as the integration, but write what a user says
 *   in a conversation of it, which `standIn` operations are for.
 */
type IntegrationAuthority = 'key' | 'developer' | 'none'

/** A caller at a chat address without a user key. */
export interface ChatActor {
  readonly kind: 'chat'
  readonly chat: ChatAddress
  /** Network address of the caller: what the limits count by. */
  readonly address: string
}

/** The holder of a verified user key. The key does not prove that the user still exists. */
export interface ChatUserActor {
  readonly kind: 'chat-user'
  readonly chat: ChatAddress
  /** The user's id as the app sees it: the foreign id if one was chosen, else the native id. */
  readonly userKeyId: string
  /** Milliseconds since the Unix epoch; undefined for keys that never expire. */
  readonly keyExpiresAt: number | undefined
  /** Milliseconds since the Unix epoch; undefined for keys that do not contain it. */
  readonly keyIssuedAt: number | undefined
}

/** One bot's chat installation, as its webhook id names it. */
export interface ChatAddress {
  readonly workspaceId: string
  readonly botId: string
  readonly webhookId: string
  /** Alias of the installation: the `integration` of conversations opened here. */
  readonly alias: string
  /** Secret that verifies user keys in personal mode; undefined in shared mode. */
  readonly encryptionKey: string | undefined
}

/** Alias of the integration that calls; undefined for the bot and people. */
export function aliasOf(actor: BotActor): string | undefined {
  return actor.caller.type === 'integration' ? actor.caller.alias : undefined
}

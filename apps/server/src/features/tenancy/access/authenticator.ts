import { type AccountPermission, ApiError, type WorkspacePermission } from '@botstead/contract'
import type {
  AccountActor,
  BotActor,
  Caller,
  TokenActor,
  WorkspaceActor,
} from '../../../domain/actor.js'
import {
  type Authenticator,
  type ScopeHeaders,
  scopeRefusal,
} from '../../../domain/authenticator.js'
import {
  limitRights,
  noLimits,
  type Rights,
  reaches,
  requireAccountPermission,
  requirePermission,
} from '../../../domain/rights.js'
import { type Ground, splitGround } from '../../../platform/authorities.js'
import { type Awaitable, after } from '../../../platform/awaitable.js'
import { bound } from '../../../platform/bound.js'
import type { Clock } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import { hashToken, isSessionValue } from '../../../platform/ids.js'
import { limitsOf } from './limits.js'
import type { Memberships } from './memberships.js'
import type { BotDirectory } from './reach.js'
import { endedSession, foreignIntegration, keyOfBot, unknownToken } from './refusals.js'
import { findTokenByHash, type TokenRow } from './store.js'
import type { TokenUsage } from './usage.js'

/** Authenticates the holders of access tokens. */
export interface TokenAuthenticator
  extends Pick<Authenticator, 'account' | 'token' | 'workspace' | 'bot'> {
  /**
   * Forgets what rests on a ground that changed, or everything. From then on a revoked token is refused, a deleted bot with
   * its keys, and a deleted workspace with all that belongs to it.
   */
  forget(ground: Ground | undefined): void
}

export interface AuthenticatorDeps {
  db: Db
  clock: Clock
  usage: Pick<TokenUsage, 'record'>
  memberships: Memberships
  bots: BotDirectory
  integrations: IntegrationOwners
  /** Id of the integration that is part of the server. */
  builtInId: string
}

/** The part of integrations that access reads; they are a slice above this one. */
export interface IntegrationOwners {
  /** The integration with the workspace of its developer; undefined for one that is part of the server. */
  of(id: string): Awaitable<{ workspaceId: string } | undefined>
}

/** The holder of a token. */
type Holder =
  | {
      kind: 'personal'
      actor: AccountActor
      /** Milliseconds since the Unix epoch; undefined for what is valid until it is deleted. */
      expiresAt: number | undefined
    }
  | {
      kind: 'bot'
      tokenId: string
      workspaceId: string
      botId: string
      expiresAt: number | undefined
    }
  | {
      kind: 'integration'
      tokenId: string
      workspaceId: string
      integrationId: string
      expiresAt: number | undefined
    }

interface BotFact {
  workspaceId: string
  installed: InstalledIntegration[]
}

/** Longer than any issued token; longer values are neither looked up nor cached. */
const maxTokenLength = 512

/**
 * Cached authentication: a caller who was seen within the last seconds needs no read.
 *
 * Token, membership and bot are cached separately for five seconds, which is how long a change by another
 * process can go unnoticed when its hint is lost. Tokens are cached by value, not by hash: this saves hashing on every
 * request, and an attacker who can read this memory can also read the requests.
 */
export function createTokenAuthenticator(deps: AuthenticatorDeps): TokenAuthenticator {
  const parts = { ...deps, known: createCaches(deps) }
  return bound(parts, { account, token, workspace, bot, forget })
}

interface AuthenticatorParts extends AuthenticatorDeps {
  known: ReturnType<typeof createCaches>
}

function createCaches({ db, clock, usage, memberships, bots }: AuthenticatorDeps) {
  return {
    holders: createFactCache<Holder>({
      clock,
      groupOf: (_, holder) => tokenIdOf(holder),
      read: async (token) => {
        const row = await findTokenByHash(db, hashToken(token))
        if (row === undefined) return undefined
        usage.record(row)
        return toHolder(row)
      },
    }),
    /** Rights by account and workspace, as tokens without limits have them. */
    rights: createFactCache<Rights>({
      clock,
      read: (key) => memberships.rightsIn(...partsOf(key)),
    }),
    bots: createFactCache<BotFact>({
      clock,
      read: (id) => readBot(bots, id),
    }),
  }
}

function account(parts: AuthenticatorParts, token: string, permission: AccountPermission) {
  return after(holderOf(parts, token), (holder): AccountActor => {
    const actor = requirePersonal(holder)
    requireAccountPermission(actor.limits, permission)
    return actor
  })
}

function token(parts: AuthenticatorParts, token: string) {
  return after(
    holderOf(parts, token),
    (holder): TokenActor => ({ kind: 'token', tokenId: tokenIdOf(holder) }),
  )
}

function workspace(
  parts: AuthenticatorParts,
  token: string,
  workspaceId: string,
  permission: WorkspacePermission,
) {
  return after(holderOf(parts, token), (holder) => {
    const personal = requirePersonal(holder)
    return after(rightsIn(parts, personal, workspaceId), (rights): WorkspaceActor => {
      if (rights === undefined) throw scopeRefusal('x-workspace-id')
      requirePermission(rights, permission)
      const { accountId, tokenId, authority } = personal
      return { kind: 'workspace', accountId, tokenId, authority, workspaceId, rights, permission }
    })
  })
}

function bot(
  parts: AuthenticatorParts,
  token: string,
  botId: string,
  scope: ScopeHeaders,
  permission: WorkspacePermission,
) {
  return after(holderOf(parts, token), (holder) => {
    if (holder.kind === 'bot' && holder.botId !== botId) throw scopeRefusal('x-bot-id')
    return after(parts.known.bots.get(botId), (bot): Awaitable<BotActor> => {
      if (holder.kind === 'integration') return integrationActor(holder, botId, bot, scope)
      if (bot === undefined) throw scopeRefusal('x-bot-id')
      const { workspaceId } = bot
      if (holder.kind === 'bot') {
        const caller = requireCaller(scope, bot.installed)
        if (caller.type === 'integration') throw keyOfBot()
        return { kind: 'bot', workspaceId, botId, tokenId: holder.tokenId, caller }
      }
      const { actor: personal } = holder
      return after(rightsIn(parts, personal, workspaceId), (rights) => {
        if (rights === undefined || !reaches(rights, botId)) throw scopeRefusal('x-bot-id')
        requirePermission(rights, permission)
        const named = requireCaller(scope, bot.installed)
        return after(withAuthority(parts, personal, workspaceId, named), (caller) => ({
          kind: 'bot',
          workspaceId,
          botId,
          tokenId: personal.tokenId,
          caller,
          person: personal,
        }))
      })
    })
  })
}

function forget({ known }: AuthenticatorParts, ground: Ground | undefined): void {
  const [kind, id] = ground === undefined ? [undefined, ''] : splitGround(ground)
  switch (kind) {
    case 'token':
      known.holders.forgetGroup(id)
      break
    case 'bot':
      // The keys of a bot are worth nothing without it.
      known.bots.forgetGroup(id)
      break
    case 'workspace':
      known.rights.forget((key) => partsOf(key)[1] === id)
      known.bots.forget((_, bot) => bot.workspaceId === id)
      known.holders.forget((_, holder) => workspaceOf(holder) === id)
      break
    case 'user':
      break
    case undefined:
      for (const cache of Object.values(known)) cache.forget(() => true)
      break
    default:
      kind satisfies never
  }
}

function holderOf({ known, clock }: AuthenticatorParts, token: string): Awaitable<Holder> {
  if (token.length > maxTokenLength) throw unknownToken()
  const refusal = isSessionValue(token) ? endedSession : unknownToken
  return after(known.holders.get(token), (holder) => {
    if (holder === undefined) throw refusal()
    if (holder.expiresAt !== undefined && clock.now() >= holder.expiresAt) throw refusal()
    return holder
  })
}

/** The rights of the holder of a personal token in a workspace; undefined outside of it, and outside of the limits of the token. */
function rightsIn(
  { known }: AuthenticatorParts,
  { accountId, limits }: AccountActor,
  workspaceId: string,
): Awaitable<Rights | undefined> {
  if (limits.workspaceId !== undefined && limits.workspaceId !== workspaceId) return undefined
  return after(known.rights.get(keyOf(accountId, workspaceId)), (rights) =>
    rights === undefined || limits === noLimits ? rights : limitRights(rights, limits),
  )
}

/**
 * The caller with the authority that an account has for the integration that it names in a bot of a workspace. What is
 * part of the server has no developer and no account elsewhere: it belongs to whoever has the bot. A token that is limited
 * to one bot can make no key of an integration, and so acts as none.
 */
function withAuthority(
  parts: AuthenticatorParts,
  account: AccountActor,
  botWorkspaceId: string,
  caller: Caller,
): Awaitable<Caller> {
  if (caller.type !== 'integration') return caller
  return after(parts.integrations.of(caller.id), (integration) => {
    if (integration === undefined && caller.id !== parts.builtInId) return caller
    if (integration !== undefined && account.limits.botId !== undefined) return caller
    const owner = integration?.workspaceId ?? botWorkspaceId
    return after(rightsIn(parts, account, owner), (rights) =>
      rights?.permissions.has('bots:write') ? { ...caller, authority: 'developer' } : caller,
    )
  })
}

async function readBot(bots: BotDirectory, id: string): Promise<BotFact | undefined> {
  const workspaceId = await bots.workspaceOf(id)
  if (workspaceId === undefined) return undefined
  const rows = await bots.installationsOf(id)
  const installed = rows.map(({ integration_id, alias, name }) => ({
    id: integration_id,
    alias,
    name,
  }))
  return { workspaceId, installed }
}

function toHolder(row: TokenRow): Holder | undefined {
  const expiresAt = row.expires_at === null ? undefined : Date.parse(row.expires_at)
  switch (row.kind) {
    case 'personal':
    case 'session':
      if (row.account_id === null) return undefined
      return {
        kind: 'personal',
        actor: {
          kind: 'account',
          accountId: row.account_id,
          tokenId: row.id,
          authority: { kind: row.kind === 'session' ? 'session' : 'token', note: row.note },
          limits: limitsOf(row),
        },
        expiresAt,
      }
    case 'bot':
      if (row.workspace_id === null || row.bot_id === null) return undefined
      return {
        kind: 'bot',
        tokenId: row.id,
        workspaceId: row.workspace_id,
        botId: row.bot_id,
        expiresAt,
      }
    case 'integration':
      if (row.workspace_id === null || row.integration_id === null) return undefined
      return {
        kind: 'integration',
        tokenId: row.id,
        workspaceId: row.workspace_id,
        integrationId: row.integration_id,
        expiresAt,
      }
    default:
      return row.kind satisfies never
  }
}

/**
 * The holder of the key of an integration, in a bot where it is installed. The same error for bots
 * that do not exist and bots where it is not installed.
 */
function integrationActor(
  holder: Extract<Holder, { kind: 'integration' }>,
  botId: string,
  bot: BotFact | undefined,
  scope: ScopeHeaders,
): BotActor {
  const { tokenId, integrationId } = holder
  const caller = bot && ownInstallation(integrationId, scope, bot.installed)
  if (bot === undefined || caller === undefined) {
    throw new ApiError(
      'Forbidden',
      'The token in Authorization is the key of an integration: x-bot-id must name a bot in which it is installed, and x-integration-alias, if sent, its alias there.',
    )
  }
  // A published integration may be installed in bots of other workspaces, and acts there.
  return { kind: 'bot', workspaceId: bot.workspaceId, botId, tokenId, caller }
}

/** The only workspace in which a token is good for something. */
function workspaceOf(holder: Holder): string | undefined {
  return holder.kind === 'personal' ? holder.actor.limits.workspaceId : holder.workspaceId
}

function tokenIdOf(holder: Holder): string {
  return holder.kind === 'personal' ? holder.actor.tokenId : holder.tokenId
}

function requirePersonal(holder: Holder): AccountActor {
  if (holder.kind === 'personal') return holder.actor
  const [owner, keys] =
    holder.kind === 'bot' ? ['a bot', 'bot keys'] : ['an integration', 'integration keys']
  throw new ApiError(
    'Forbidden',
    `The token in Authorization is the key of ${owner}, and ${keys} may not do this: this call takes the personal access token of a member of the workspace, as "botstead token create" and createPersonalAccessToken make them.`,
  )
}

const separator = ' '

function keyOf(accountId: string, workspaceId: string): string {
  return accountId + separator + workspaceId
}

/**
 * Unambiguous, because ids of accounts contain no space, whatever a caller sends as a workspace id.
 */
function partsOf(key: string): [accountId: string, workspaceId: string] {
  const end = key.indexOf(separator)
  return [key.slice(0, end), key.slice(end + 1)]
}

/** An integration as it is installed in a bot. */
export interface InstalledIntegration {
  id: string
  alias: string
  name: string
}

function requireCaller(scope: ScopeHeaders, installed: readonly InstalledIntegration[]): Caller {
  const caller = callerOf(scope, installed)
  if (caller === undefined) throw foreignIntegration()
  return caller
}

/**
 * The caller that the headers name, without any authority if it is an integration. Undefined if they name an integration
 * that is not installed. An alias without an id is ignored unless the bot has it, because callers also send their
 * own aliases.
 */
export function callerOf(
  scope: ScopeHeaders,
  installed: readonly InstalledIntegration[],
): Caller | undefined {
  const { integrationId, integrationAlias, userId, userRole } = scope
  const named = installationOf(integrationId, integrationAlias, installed)
  if (integrationId !== undefined) return named
  if (integrationAlias !== undefined && named !== undefined) return named
  if (userId !== undefined) return { type: 'user', id: userId, role: userRole }
  return { type: 'bot' }
}

/**
 * The installation for which the holder of an integration key acts; undefined if the headers name
 * another one, or it is not installed.
 */
function ownInstallation(
  id: string,
  { integrationId = id, integrationAlias }: ScopeHeaders,
  installed: readonly InstalledIntegration[],
): Caller | undefined {
  const own = integrationId === id ? installationOf(id, integrationAlias, installed) : undefined
  return own && { ...own, authority: 'key' }
}

/** The first installation with this id and alias; undefined matches any. */
function installationOf(
  id: string | undefined,
  alias: string | undefined,
  installed: readonly InstalledIntegration[],
): Extract<Caller, { type: 'integration' }> | undefined {
  const instance = installed.find(
    (integration) =>
      (id === undefined || integration.id === id) &&
      (alias === undefined || integration.alias === alias),
  )
  return instance && { type: 'integration', ...instance, authority: 'none' }
}

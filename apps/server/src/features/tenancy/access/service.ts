import { ApiError, type Body, type contract } from '@botstead/contract'
import type { AccountActor, WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { reaches } from '../../../domain/rights.js'
import type { Authorities } from '../../../platform/authorities.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { encodeBoolean } from '../../../platform/db/columns.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import { hashToken, type Ids, newToken } from '../../../platform/ids.js'
import type { AccountsService } from '../accounts/index.js'
import { type Act, recordAct, recordIn } from '../audit/index.js'
import { type MembersService, recordByOperator, recordOwn } from '../members/index.js'
import { holdWorkspace } from '../workspaces/index.js'
import {
  addAllowed,
  deleteAllowlist,
  isLimited,
  listAllowed,
  moveAllowlist,
  removeFromLists,
} from './allowlist-store.js'
import { type PersonalLimits, requireLimits } from './limits.js'
import type { Memberships } from './memberships.js'
import type { BotDirectory } from './reach.js'
import type { TokenRow } from './store.js'
import * as store from './store.js'

type NewPersonalToken = Body<typeof contract.tokens.createPersonal>
type NewBotKey = Body<typeof contract.tokens.createBotKey>
type NewIntegrationKey = Body<typeof contract.tokens.createIntegrationKey>

export interface AccessDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  bots: Pick<BotDirectory, 'isIn' | 'hold'>
  integrations: {
    /** As `hold` of bots. */
    hold: BotDirectory['hold']
    /** Throws `ReferenceNotFound` unless the integration is one of the workspace. */
    requireIn(actor: WorkspaceActor, id: string, field: string): Promise<void>
  }
  authorities: Pick<Authorities, 'change'>
  memberships: Memberships
  members: Pick<MembersService, 'hold'>
}

export type AccessService = ReturnType<typeof createAccessService>

/** Operations of owners on their tokens. */
export function createAccessService(deps: AccessDeps) {
  const { db, run } = deps
  const end = (tokenId: string) => deps.authorities.change(`token:${tokenId}`)

  /** @param field path of the id in the request */
  async function requireBot(actor: WorkspaceActor, botId: string, field: string): Promise<void> {
    if (await deps.bots.isIn(actor, botId)) return
    throw unknownOwner('bot', botId, field)
  }

  /** @param inside keeps the owner from being deleted until the transaction ends, or throws if it is gone; records the act */
  async function create(
    owner: TokenOwner,
    note: string,
    remember: Remember<MadeToken>,
    inside: (tx: Tx, made: MadeToken) => Promise<void>,
  ): Promise<MadeToken> {
    const made = makeToken(owner, note, deps)
    await run(async (tx) => {
      await inside(tx, made)
      await store.insertToken(tx, made.token)
      await remember?.(tx, made)
    })
    return made
  }

  return {
    /** A token with limits lists those that are limited to the same workspace, and shows no ids of others. */
    async listPersonal({ accountId, limits }: AccountActor): Promise<store.TokenSummaryRow[]> {
      const rows = await store.listPersonalTokens(db, accountId)
      const { workspaceId } = limits
      if (workspaceId === undefined) return rows
      return rows.filter(({ workspace_id }) => workspace_id === workspaceId)
    },

    async createPersonal(
      actor: AccountActor,
      input: NewPersonalToken,
      remember: Remember<MadeToken>,
    ): Promise<MadeToken> {
      const { accountId } = actor
      const limits = await requireLimits(deps, actor, input)
      const owner = { kind: 'personal', accountId, ...limits } as const
      return await create(owner, input.note, remember, async (tx, { token }) =>
        recordToken(deps, tx, actor, token, limits),
      )
    },

    removePersonal: (actor: AccountActor, id: string) => removePersonal(deps, actor, id),

    async listBotKeys(actor: WorkspaceActor, botId: string): Promise<store.TokenSummaryRow[]> {
      await requireBot(actor, botId, 'query.botId')
      return await store.listBotKeys(db, actor.workspaceId, botId)
    },

    async createBotKey(
      actor: WorkspaceActor,
      input: NewBotKey,
      remember: Remember<MadeToken>,
    ): Promise<MadeToken> {
      const { workspaceId } = actor
      const { botId, note = '' } = input
      return await create(
        { kind: 'bot', workspaceId, botId },
        note,
        remember,
        async (tx, { token }) => {
          await holdWorkspace(tx, actor)
          recordKey(deps, tx, actor, token, { botId: { to: botId } })
          if (await deps.bots.hold(tx, actor, botId)) return
          throw unknownOwner('bot', botId, 'body.botId')
        },
      )
    },

    async removeBotKey(actor: WorkspaceActor, id: string): Promise<void> {
      await removeKey(deps, 'bot', actor, id)
    },

    async listIntegrationKeys(
      actor: WorkspaceActor,
      integrationId: string,
    ): Promise<store.TokenSummaryRow[]> {
      await deps.integrations.requireIn(actor, integrationId, 'query.integrationId')
      return await store.listIntegrationKeys(db, actor.workspaceId, integrationId)
    },

    async createIntegrationKey(
      actor: WorkspaceActor,
      input: NewIntegrationKey,
      remember: Remember<MadeToken>,
    ): Promise<MadeToken> {
      const { workspaceId } = actor
      const { integrationId, note = '' } = input
      const owner = { kind: 'integration', workspaceId, integrationId } as const
      return await create(owner, note, remember, async (tx, { token }) => {
        await holdWorkspace(tx, actor)
        recordKey(deps, tx, actor, token, { integrationId: { to: integrationId } })
        if (await deps.integrations.hold(tx, actor, integrationId)) return
        throw unknownOwner('integration', integrationId, 'body.integrationId')
      })
    },

    async removeIntegrationKey(actor: WorkspaceActor, id: string): Promise<void> {
      await removeKey(deps, 'integration', actor, id)
    },

    /** Removes all keys of an integration in the transaction that removes it. */
    async removeKeysOfIntegration(tx: Tx, integrationId: string): Promise<void> {
      const gone = await store.deleteKeysOfIntegration(tx, integrationId)
      afterCommit(tx, () => gone.forEach(end))
    },

    /** Removes all keys of a workspace in the transaction that removes the workspace. */
    async removeWorkspaceKeys(tx: Tx, workspaceId: string): Promise<void> {
      await store.deleteKeysOfWorkspace(tx, workspaceId)
    },

    /** Deletes what a former member has in a workspace: tokens that are limited to it, and places on lists of bots. */
    async removeMember(tx: Tx, workspaceId: string, accountId: string): Promise<void> {
      const gone = await store.deleteTokensOfMember(tx, workspaceId, accountId)
      await removeFromLists(tx, workspaceId, accountId)
      afterCommit(tx, () => gone.forEach(end))
    },

    moveBot: (tx: Tx, moved: MovedBot) => moveBot(deps, tx, moved),

    /** Deletes the keys and the list of a deleted bot. */
    async purge(botId: string): Promise<void> {
      const remove = async (tx: Tx) => {
        await store.deleteKeysOfBot(tx, botId)
        await deleteAllowlist(tx, botId)
      }
      await run(remove, { mayUseReserve: true })
    },
  }
}

/** A bot that moves to another workspace, and the account that moves it. */
interface MovedBot {
  botId: string
  from: string
  to: string
  accountId: string
}

/**
 * Moves the keys of a bot and its list with it. Tokens that are limited to the bot and places on its list go, whose
 * accounts are no members of the other workspace. Who moves a bot with a list is on it.
 */
async function moveBot(
  { members, authorities }: AccessDeps,
  tx: Tx,
  { botId, from, to, accountId }: MovedBot,
): Promise<void> {
  const allowed = await listAllowed(tx, botId)
  const limited = await store.listAccountsLimitedTo(tx, botId)
  const held = await members.hold(tx, to, [...new Set([...allowed, ...limited, accountId])])
  if (!held.has(accountId)) {
    throw new ApiError('Forbidden', 'You were removed from the other workspace meanwhile.')
  }
  const strangers = limited.filter((id) => !held.has(id))
  await store.deleteTokensLimitedTo(tx, botId, strangers)
  await store.moveKeysOfBot(tx, botId, to)
  await moveAllowlist(tx, botId, to, held)
  if (await isLimited(tx, botId)) await addAllowed(tx, to, botId, [accountId])
  afterCommit(tx, () => {
    for (const workspaceId of [from, to]) authorities.change(`workspace:${workspaceId}`)
  })
}

function recordToken(
  deps: AccessDeps,
  tx: Tx,
  actor: AccountActor,
  { id, note }: Pick<TokenRow, 'id' | 'note'>,
  limits: Partial<PersonalLimits> = {},
): void {
  const changes = Object.fromEntries(
    Object.entries(limits)
      .filter(([, value]) => value !== undefined)
      .map(([name, to]) => [name, { to }]),
  )
  recordOwn(deps, tx, actor, { resourceId: id, resourceName: note, changes })
}

function recordKey(
  deps: AccessDeps,
  tx: Tx,
  actor: WorkspaceActor,
  { id, note }: Pick<TokenRow, 'id' | 'note'>,
  changes: Act['changes'] = {},
): void {
  recordAct(deps, tx, actor, { resourceId: id, resourceName: note, changes })
}

async function removeKey(
  deps: AccessDeps,
  kind: 'bot' | 'integration',
  actor: WorkspaceActor,
  id: string,
): Promise<void> {
  const { workspaceId, rights } = actor
  const remove = async (tx: Tx) => {
    const token = await store.findToken(tx, id)
    const botId = token?.bot_id ?? undefined
    if (botId !== undefined && !reaches(rights, botId)) return false
    if (!(await store.deleteKey(tx, kind, workspaceId, id))) return false
    recordAct(deps, tx, actor, { resourceId: id, resourceName: token?.note })
    return true
  }
  if (!(await deps.run(remove, { mayUseReserve: true }))) {
    throw notFound('key', id, 'in this workspace')
  }
  deps.authorities.change(`token:${id}`)
}

async function removePersonal(deps: AccessDeps, actor: AccountActor, id: string): Promise<void> {
  const remove = async (tx: Tx) => {
    const token = await store.findToken(tx, id)
    if (!(await store.deleteOwn(tx, 'personal', actor.accountId, id))) return false
    recordToken(deps, tx, actor, { id, note: token?.note ?? '' })
    return true
  }
  if (!(await deps.run(remove, { mayUseReserve: true }))) {
    throw notFound('personal access token', id)
  }
  deps.authorities.change(`token:${id}`)
}

function unknownOwner(kind: 'bot' | 'integration', id: string, field: string): ApiError {
  return new ApiError('ReferenceNotFound', `${field}: there is no ${kind} ${id} in this workspace.`)
}

/** A new token: the only time that its value is known. */
export interface MadeToken {
  token: TokenRow
  value: string
}

/** The owner of a token. */
export type TokenOwner =
  | ({ kind: 'personal'; accountId: string } & Partial<PersonalLimits>)
  | {
      kind: 'session'
      accountId: string
      expiresAt: string
      device: string | undefined
      address: string
      byToken: boolean
    }
  | { kind: 'bot'; workspaceId: string; botId: string }
  | { kind: 'integration'; workspaceId: string; integrationId: string }

/** Prefixes of values and ids. */
const prefixes = {
  personal: { value: 'bp_pat_', id: 'pat' },
  session: { value: 'bp_ses_', id: 'sess' },
  bot: { value: 'bp_bak_', id: 'bak' },
  integration: { value: 'bp_iak_', id: 'iak' },
} as const

interface Sources {
  ids: Ids
  clock: Clock
}

/** @param value given by the operator; generated if left out */
export function makeToken(
  owner: TokenOwner,
  note: string,
  { ids, clock }: Sources,
  value = newToken(prefixes[owner.kind].value),
): MadeToken {
  const token: TokenRow = {
    id: ids.next(prefixes[owner.kind].id),
    kind: owner.kind,
    read_only: encodeBoolean('readOnly' in owner && owner.readOnly === true),
    hash: hashToken(value),
    account_id: 'accountId' in owner ? owner.accountId : null,
    workspace_id: ('workspaceId' in owner && owner.workspaceId) || null,
    bot_id: ('botId' in owner && owner.botId) || null,
    integration_id: owner.kind === 'integration' ? owner.integrationId : null,
    deployment_id: null,
    note,
    created_at: isoTime(clock.now()),
    last_used_at: null,
    expires_at: ('expiresAt' in owner && owner.expiresAt) || null,
    device: ('device' in owner && owner.device) || null,
    address: 'address' in owner ? owner.address : null,
    by_token: encodeBoolean('byToken' in owner && owner.byToken),
  }
  return { token, value }
}

export interface OperatorTokensDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  authorities: Pick<Authorities, 'change'>
  accounts: Pick<AccountsService, 'findFirst' | 'findByEmail'>
}

export type OperatorTokens = ReturnType<typeof createOperatorTokens>

/**
 * Tokens for the operator of the server, at the first start and from the command line, directly on
 * the database. A running server notices a revocation within five seconds, and at once where hints reach it.
 */
export function createOperatorTokens(deps: OperatorTokensDeps) {
  const { db, run } = deps

  async function firstAccount(): Promise<{ id: string }> {
    const account = await deps.accounts.findFirst()
    if (account !== undefined) return account
    throw new Error('There is no account yet: the first start of the server creates one.')
  }

  async function accountOf(email: string): Promise<{ id: string }> {
    const account = await deps.accounts.findByEmail(db, email.toLowerCase())
    if (account !== undefined) return account
    throw new Error(`There is no account with the address ${email}.`)
  }

  return {
    /**
     * Creates a personal token of the first account. Rejects if the database has no account yet.
     */
    async createForFirstAccount(note: string): Promise<MadeToken> {
      const account = await firstAccount()
      const made = makeToken({ kind: 'personal', accountId: account.id }, note, deps)
      await run(async (tx) => {
        await store.insertToken(tx, made.token)
        recordByOperator(deps, tx, 'operator.createToken', account.id, {
          resourceId: made.token.id,
          resourceName: note,
        })
      })
      return made
    },

    /**
     * Tokens of every kind and owner, newest first; without their values, of which only hashes are
     * stored. The keys of deployed code are not among them: they come and go with its programs.
     */
    async listAll(): Promise<store.TokenRow[]> {
      return await store.listTokens(db)
    },

    /** Deletes a token of any kind and owner. @returns whether it existed */
    async revoke(id: string): Promise<boolean> {
      const remove = async (tx: Tx) => {
        const token = await store.findToken(tx, id)
        if (!(await store.deleteToken(tx, id))) return false
        const act = { resourceId: id, resourceName: token?.note }
        const operation = 'operator.revokeToken'
        if (token?.account_id != null) recordByOperator(deps, tx, operation, token.account_id, act)
        const { workspace_id: workspaceId } = token ?? {}
        if (token?.account_id == null && workspaceId != null) {
          const acting = { operation, authority: 'operator' } as const
          recordIn(deps, tx, async () => [workspaceId], acting, act)
        }
        return true
      }
      const existed = await run(remove, { mayUseReserve: true })
      if (existed) deps.authorities.change(`token:${id}`)
      return existed
    },

    /** Makes a code that signs a browser in to an account, once and within an hour. */
    addSignInCode: (tx: Tx, accountId: string) => addSignInCode(tx, accountId, deps.clock),

    /**
     * The same for the account with an address, or else the first one, in a transaction of its own. Rejects if there is no
     * such account.
     */
    async signInCodeOf(email: string | undefined): Promise<string> {
      const { id } = email === undefined ? await firstAccount() : await accountOf(email)
      return await run(async (tx) => {
        recordByOperator(deps, tx, 'operator.createSignInCode', id)
        return await addSignInCode(tx, id, deps.clock)
      })
    },

    /** Whether there is a token with this value, of any kind and owner. */
    async isKnown(value: string): Promise<boolean> {
      return (await store.findTokenByHash(db, hashToken(value))) !== undefined
    },

    /**
     * Adds a token with a chosen value to an account.
     * @returns whether it was added: false if there is a token with this value
     */
    async add(tx: Tx, accountId: string, value: string, note: string): Promise<boolean> {
      const { token } = makeToken({ kind: 'personal', accountId }, note, deps, value)
      return await store.insertToken(tx, token)
    },
  }
}

/** Milliseconds for which a sign-in code is valid: a printed link is used at once or forgotten. */
const codeLifetime = 60 * 60 * 1000

/** Makes a code that signs a browser in to an account, once and within an hour. */
async function addSignInCode(tx: Tx, accountId: string, clock: Clock): Promise<string> {
  const code = newToken('bp_code_')
  await store.insertSignInCode(tx, {
    hash: hashToken(code),
    account_id: accountId,
    expires_at: isoTime(clock.now() + codeLifetime),
  })
  return code
}

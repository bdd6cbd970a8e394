import { ApiError, type Body, contract, type Output } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import type { Browser } from '../../../domain/browser.js'
import { notFound } from '../../../domain/refusals.js'
import { type Route, route } from '../../../http/mount.js'
import type { Authorities } from '../../../platform/authorities.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { hashToken, type Ids, isSessionValue } from '../../../platform/ids.js'
import type { Sweep } from '../../feature.js'
import { type Act, browsing } from '../audit/index.js'
import { recordOfAccount, recordOwn } from '../members/index.js'
import type { TokenAuthenticator } from './authenticator.js'
import { browserName } from './browser-name.js'
import { type MadeToken, makeToken } from './service.js'
import * as store from './store.js'

/** Sessions that an account has at most; a new one ends the oldest. */
const maxSessions = 100
const rowsAtOnce = 500

/** Details of a session that begins. */
interface SessionDetails {
  note?: string | undefined
  /** ISO 8601 time at which it ends at the latest. */
  latest?: string | undefined
  /** Whether a personal token began it. */
  byToken?: boolean
  /** The act that the audit log has with it, if it is not the sign-in alone. */
  act?: Act
}

export interface SessionsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  authorities: Pick<Authorities, 'change'>
  authenticator: Pick<TokenAuthenticator, 'account'>
  /** Milliseconds after which a session ends by itself. */
  sessionLifetimeMs: number
}

export type SessionsService = ReturnType<typeof createSessions>

/** Browsers in which accounts are signed in. */
export function createSessions(deps: SessionsDeps) {
  const { db, run, clock, authenticator } = deps
  const end = (id: string) => deps.authorities.change(`token:${id}`)
  const now = () => isoTime(clock.now())

  /**
   * Begins a session with a new value, and ends the one that the browser has, whoever gave it that.
   */
  async function begin(
    tx: Tx,
    accountId: string,
    browser: Browser,
    { note = '', latest, byToken = false, act }: SessionDetails = {},
  ): Promise<MadeToken> {
    const usual = isoTime(clock.now() + deps.sessionLifetimeMs)
    const expiresAt = latest !== undefined && latest < usual ? latest : usual
    const { address, session } = browser
    const device = browserName(browser.userAgent)
    const owner = { kind: 'session', accountId, expiresAt, device, address, byToken } as const
    const made = makeToken(owner, note, deps)
    await store.insertToken(tx, made.token)
    recordOfAccount(deps, tx, { ...browsing(accountId, browser, made.token.id), accountId }, act)
    const ended = await store.deleteOldSessions(tx, accountId, maxSessions)
    const before = session && (await store.deleteSessionByHash(tx, hashToken(session)))
    if (before) ended.push(before)
    afterCommit(tx, () => ended.forEach(end))
    return made
  }

  const endAll = (tx: Tx, accountId: string, exceptId?: string) =>
    endSessions(deps, tx, accountId, exceptId)

  /** Signs in with a code, which works once: it is deleted in the transaction that makes the session. */
  async function beginWithCode(
    code: string,
    note: string | undefined,
    browser: Browser,
  ): Promise<MadeToken> {
    return await run(async (tx) => {
      const accountId = await store.takeSignInCode(tx, hashToken(code), now())
      if (accountId === undefined) {
        throw new ApiError(
          'Unauthorized',
          'body.code: the code is not valid, was used already or is older than an hour. Run "npx botstead dashboard" for a new link.',
          { metadata: { in: 'body', field: 'code' } },
        )
      }
      return await begin(tx, accountId, browser, { note })
    })
  }

  async function create(
    { token, code, note }: Body<typeof contract.sessions.create>,
    browser: Browser,
  ): Promise<MadeToken> {
    if ((token === undefined) === (code === undefined)) {
      throw new ApiError('InvalidPayload', 'body: either token or code must be given.', {
        metadata: { in: 'body', field: 'token' },
      })
    }
    if (code !== undefined) return await beginWithCode(code, note, browser)
    const { accountId, tokenId } = await holderOf(authenticator, token ?? '')
    const latest = await store.findEndOfPersonal(db, tokenId)
    const details = { note, latest, byToken: true }
    return await run((tx) => begin(tx, accountId, browser, details))
  }

  return {
    create,

    /** Signs a browser in to an account that was proven. */
    begin,

    /** The session that a browser has; undefined for none. */
    async find(executor: Db | Tx, { session }: Browser): Promise<store.TokenRow | undefined> {
      if (session === undefined) return undefined
      const row = await store.findTokenByHash(executor, hashToken(session))
      return row?.kind === 'session' && (row.expires_at ?? '') > now() ? row : undefined
    },

    endAll,

    /** Ends all sessions and personal tokens of an account that is deleted. */
    async endAccount(tx: Tx, accountId: string): Promise<void> {
      const ended = await store.deleteTokensOf(tx, accountId)
      afterCommit(tx, () => ended.forEach(end))
    },

    /** Revokes the personal tokens of an account. */
    async revokePersonal(tx: Tx, accountId: string): Promise<void> {
      const revoked = await store.deletePersonalOf(tx, accountId)
      afterCommit(tx, () => revoked.forEach(end))
    },

    /** Ends the other sessions of the caller. */
    removeOthers: async (actor: AccountActor): Promise<number> =>
      await run(
        async (tx) => {
          const ended = await endAll(tx, actor.accountId, actor.tokenId)
          recordOwn(deps, tx, actor, { changes: { ended: { to: ended } } })
          return ended
        },
        { mayUseReserve: true },
      ),

    /** @returns the sessions of the caller that have not expired, newest first */
    list: async ({ accountId }: AccountActor): Promise<store.TokenRow[]> =>
      await store.listSessions(db, accountId, now(), maxSessions),

    /** Ends a session of the caller. Returns whether it is the one of the call. */
    async remove(actor: AccountActor, given: string): Promise<boolean> {
      const id = given === 'current' ? actor.tokenId : given
      const remove = async (tx: Tx) => {
        if (!(await store.deleteOwn(tx, 'session', actor.accountId, id))) return false
        recordOwn(deps, tx, actor, { resourceId: id })
        return true
      }
      if (!(await run(remove, { mayUseReserve: true }))) {
        throw notFound('session', given)
      }
      end(id)
      return id === actor.tokenId
    },
  }
}

/** Ends the sessions of an account, but for one, and makes sign-in codes unusable. @returns how many were ended */
export async function endSessions(
  { authorities }: Pick<SessionsDeps, 'authorities'>,
  tx: Tx,
  accountId: string,
  exceptId?: string,
): Promise<number> {
  const ended = await store.deleteSessionsOf(tx, accountId, exceptId)
  await store.deleteSignInCodesOf(tx, accountId)
  afterCommit(tx, () => {
    for (const id of ended) authorities.change(`token:${id}`)
  })
  return ended.length
}

/** A token that may sign in: that of a person. Sessions are not exchanged for others, which would outlive them. */
async function holderOf(
  authenticator: SessionsDeps['authenticator'],
  token: string,
): Promise<AccountActor> {
  if (isSessionValue(token)) {
    throw new ApiError('Unauthorized', 'body.token: a session is not a token.', {
      metadata: { in: 'body', field: 'token' },
    })
  }
  try {
    return await authenticator.account(token, 'account:write')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message =
      error.type === 'Forbidden'
        ? 'body.token: this is the key of a bot or an integration, or a token with limits; sign in with a personal access token without limits.'
        : 'body.token: the token is not valid, or was revoked. "npx botstead token create" makes one.'
    throw new ApiError(error.type, message, { metadata: { in: 'body', field: 'token' } })
  }
}

/** Deletes expired sessions, which are refused already, and expired codes. */
export function sessionSweeps({ clock }: Pick<SessionsDeps, 'clock'>): Sweep[] {
  return [
    (tx) => store.deleteExpiredTokens(tx, isoTime(clock.now()), rowsAtOnce),
    (tx) => store.deleteExpiredCodes(tx, isoTime(clock.now())),
  ]
}

export function sessionRoutes(service: SessionsService): Route[] {
  return [
    route(contract.sessions.create, async ({ body, browser, beginSession }) => {
      const { token, value } = await service.create(body, browser)
      beginSession(value, token.expires_at ?? '')
      return { session: toSession(token, token.id) }
    }),

    route(contract.sessions.list, async ({ actor }) => ({
      sessions: (await service.list(actor)).map((row) => toSession(row, actor.tokenId)),
    })),

    route(contract.sessions.remove, async ({ actor, params, endSession }) => {
      if (await service.remove(actor, params.id)) endSession()
      return {}
    }),

    route(contract.sessions.removeOthers, async ({ actor }) => ({
      ended: await service.removeOthers(actor),
    })),
  ]
}

/** A session as the interface shows it. */
export function toSession(
  row: store.TokenRow,
  current: string,
): Output<typeof contract.sessions.list>['sessions'][number] {
  return {
    id: row.id,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? row.created_at,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    note: row.note,
    ...(row.device !== null && { device: row.device }),
    ...(row.address !== null && { address: row.address }),
    current: row.id === current,
  }
}

import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ProviderConfig } from '../../../config/single-sign-on-settings.js'
import type { AccountActor } from '../../../domain/actor.js'
import type { Browser } from '../../../domain/browser.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hashToken, newToken } from '../../../platform/ids.js'
import type { AccountRow } from '../accounts/index.js'
import { type Act, browsing } from '../audit/index.js'
import { recordOfAccount, recordOwn } from '../members/index.js'
import { requireFewBegun } from './begun.js'
import { browserSecret, type SessionDetails, type SignInDeps } from './deps.js'
import { canSignIn, holdWays, proveOwner } from './owner.js'
import { type Expected, type Identity, type Provider, ProviderError } from './provider.js'
import type { Progress } from './second-factor.js'
import { deleteTicketsOf } from './second-factor-store.js'
import * as store from './single-sign-on-store.js'

const minute = 60_000
/** Milliseconds that a person has at the provider. */
const attemptLifetime = 10 * minute

export interface SingleSignOnParts extends SignInDeps {
  /** Undefined where there is none. */
  provider: Provider | undefined
  /** Begins the session of an account that was proven, or asks for its second factor. */
  proceed(tx: Tx, accountId: string, browser: Browser, details: SessionDetails): Promise<Progress>
}

/** State of a sign-in while the person is at the provider. */
interface Kept extends Expected {
  /** Path of the dashboard on which the person goes on. */
  returnTo: string
  /** The account that gets the identity; undefined for a sign-in. */
  accountId?: string
  /** Code of an invitation that a person without an account accepts. */
  invitation?: string
}

/** A sign-in that began: the address of the provider, and the secret that the browser keeps. */
export interface BegunSignOn {
  url: string
  secret: string
}

/** The account of a person, and the record of what their sign-in changed. */
interface Found {
  accountId: string
  act?: Act
  isNew?: boolean
}

export async function startSingleSignOn(
  parts: SingleSignOnParts,
  { returnTo = '/', invitation }: Body<typeof contract.signIn.startSingleSignOn>,
  browser: Browser,
): Promise<BegunSignOn> {
  return await begin(parts, browser, { returnTo, ...(invitation !== undefined && { invitation }) })
}

/** Begins the connection of the caller's account with one at the provider. */
export async function connectSingleSignOn(
  parts: SingleSignOnParts,
  actor: AccountActor,
  { currentPassword, returnTo = '/' }: Body<typeof contract.accountSecurity.connectSingleSignOn>,
  browser: Browser,
): Promise<BegunSignOn> {
  const account = await parts.accounts.get(actor)
  const settle = await proveOwner(parts, account, currentPassword, browser)
  const begun = await begin(parts, browser, { returnTo, accountId: account.id })
  await parts.run(settle)
  return begun
}

/** Removes the connections of the caller's account. */
export async function disconnectSingleSignOn(
  deps: SignInDeps,
  actor: AccountActor,
  { currentPassword }: Body<typeof contract.accountSecurity.disconnectSingleSignOn>,
  browser: Browser,
): Promise<void> {
  const { run, clock, accounts, passwords, sessions } = deps
  const account = await accounts.get(actor)
  const settle = await proveOwner(deps, account, currentPassword, browser)
  const hasPassword = (await passwords.find(account.id)) !== undefined
  await run(async (tx) => {
    await holdWays(tx, account.id)
    const ended = await store.endIdentities(tx, account.id, isoTime(clock.now()))
    if (ended.length === 0) {
      throw new ApiError('ResourceNotFound', 'The account is not connected with any provider.')
    }
    if (!hasPassword && !(await canSignIn(deps, tx, account.id))) {
      throw new ApiError(
        'ReferenceConstraint',
        'You sign in with this connection only: set a password or add a passkey first.',
      )
    }
    await settle(tx)
    await deleteTicketsOf(tx, account.id)
    await sessions.endAll(tx, account.id, actor.tokenId)
    recordOwn(deps, tx, actor, {
      changes: { singleSignOn: { from: ended.map(nameOf).join(', ') } },
    })
  })
}

async function begin(
  { run, clock, sealer, addresses, provider }: SingleSignOnParts,
  browser: Browser,
  kept: Omit<Kept, keyof Expected>,
): Promise<BegunSignOn> {
  if (provider === undefined) throw noProvider()
  const expected: Expected = {
    state: newToken('bp_sso_'),
    nonce: newToken('bp_sso_'),
    verifier: newToken('bp_sso_'),
  }
  const secret = browserSecret(browser)
  const attempt = {
    state: hashToken(expected.state),
    browser: hashToken(secret),
    sealed: sealer.seal(JSON.stringify({ ...expected, ...kept } satisfies Kept)),
    address: browser.isLocal ? null : browser.address,
    expires_at: isoTime(clock.now() + attemptLifetime),
  }
  await run(async (tx) => {
    await requireFewBegun(clock, browser, (address, now) => store.countAttempts(tx, address, now))
    await store.insertAttempt(tx, attempt)
  })
  const isConnection = kept.accountId !== undefined
  try {
    const url = await provider.begin(pageOf(addresses), expected, isConnection)
    return { url, secret }
  } catch (error) {
    // While the provider is away, those who try again must not be told to wait for others.
    await run((tx) => store.takeAttempt(tx, attempt.state, attempt.browser, isoTime(clock.now())))
    return refuse(error)
  }
}

/**
 * Signs the person in who came back from the provider, or connects their account.
 * @returns no progress for a connection: the session stays
 */
export async function finishSingleSignOn(
  parts: SingleSignOnParts,
  { query }: Body<typeof contract.signIn.finishSingleSignOn>,
  browser: Browser,
): Promise<{ progress: Progress | undefined; returnTo: string }> {
  const { run, addresses, provider, accounts } = parts
  if (provider === undefined) throw noProvider()
  const address = new URL(pageOf(addresses))
  address.search = query
  const kept = await takeKept(parts, address.searchParams.get('state') ?? '', browser)
  const identity = await provider.finish(address, kept).catch(refuse)
  requireDomain(provider.config, identity)
  const operatorId = (await accounts.findFirst())?.id
  return await run(async (tx) => {
    if (kept.accountId !== undefined) {
      await connectOwn(parts, provider.config, tx, identity, kept.accountId, browser)
      return { progress: undefined, returnTo: kept.returnTo }
    }
    const { name } = provider.config
    const found = await accountOf(parts, provider.config, tx, identity, { ...kept, operatorId })
    const { accountId, act, isNew = false } = found
    // A second factor that comes into force at the same time ends this session, or is asked for.
    await parts.passwords.hold(tx, accountId)
    const details = { note: `Signed in with ${name}`, ...(act && { act }) }
    const progress = await parts.proceed(tx, accountId, browser, details)
    // Otherwise the session that begins is recorded.
    if ('waiting' in progress && act !== undefined) {
      recordOfAccount(parts, tx, { ...browsing(accountId, browser), accountId }, act)
    }
    return { progress, returnTo: isNew ? '/' : kept.returnTo }
  })
}

/** The state of a sign-in that this browser began; it works once. */
async function takeKept(
  { run, clock, sealer }: SingleSignOnParts,
  state: string,
  { signOn = '' }: Browser,
): Promise<Kept> {
  const now = isoTime(clock.now())
  // What nobody began costs no transaction.
  const isPossible = state.startsWith('bp_sso_') && signOn.startsWith('bp_sso_')
  const taken = isPossible
    ? await run((tx) => store.takeAttempt(tx, hashToken(state), hashToken(signOn), now))
    : undefined
  if (taken !== undefined) return JSON.parse(sealer.open(taken.sealed))
  throw refusal(
    'This sign-in was not begun in this browser, was used already, or took longer than ten minutes. Begin again.',
  )
}

function requireDomain({ domains, name }: ProviderConfig, { email }: Identity): void {
  if (domains === undefined) return
  if (email === undefined) throw unverified(name)
  if (domains.includes(email.slice(email.lastIndexOf('@') + 1))) return
  throw refusal(
    `People with your address at ${name} may not sign in here: ask the operator of this server.`,
  )
}

/** Connects the account that is signed in, if it still is. */
async function connectOwn(
  parts: SingleSignOnParts,
  { name }: ProviderConfig,
  tx: Tx,
  identity: Identity,
  accountId: string,
  browser: Browser,
): Promise<void> {
  // Before the session is read: what ends it also ends connections.
  await store.holdConnections(tx, accountId)
  if ((await parts.sessions.find(tx, browser))?.account_id !== accountId) {
    throw refusal('You were signed out meanwhile: sign in, and connect the account again.')
  }
  const known = await store.lockIdentity(tx, identity.issuer, identity.subject)
  if (known !== undefined && isConnected(known)) {
    if (known.account_id === accountId) return
    throw refusal(`This account of ${name} is connected with another account here.`)
  }
  const others = await store.listConnected(tx, accountId)
  if (others.some(({ issuer }) => issuer === identity.issuer)) {
    throw refusal(
      `Your account is connected with another account of ${name}: remove that connection first.`,
    )
  }
  await insert(parts, tx, identity, accountId)
  recordOfAccount(parts, tx, { ...browsing(accountId, browser), accountId }, connection(identity))
}

/** The account of an identity, which is connected or made by its first sign-in. */
async function accountOf(
  parts: SingleSignOnParts,
  config: ProviderConfig,
  tx: Tx,
  identity: Identity,
  { operatorId, invitation }: Pick<Kept, 'invitation'> & { operatorId: string | undefined },
): Promise<Found> {
  const known = await store.lockIdentity(tx, identity.issuer, identity.subject)
  if (known !== undefined && isConnected(known)) return { accountId: known.account_id }
  const { email } = identity
  if (email === undefined) throw unverified(config.name)
  const found = await parts.accounts.findByEmail(tx, email)
  if (found === undefined) {
    const isKnown = known !== undefined
    return await makeAccount(parts, config, tx, { ...identity, email, isKnown }, invitation)
  }
  await store.holdConnections(tx, found.id)
  const account = await parts.accounts.findIn(tx, found.id)
  if (account?.email !== email) throw tooLate()
  if (known !== undefined) {
    throw refusal(
      `The connection with this account of ${config.name} was removed. ${signInAsBefore}`,
    )
  }
  await requireOwner(config, tx, account, identity, operatorId)
  await insert(parts, tx, identity, account.id)
  return { accountId: account.id, act: connection(identity) }
}

/** @throws ApiError unless the address alone shows that an account is that of the person */
async function requireOwner(
  { name }: ProviderConfig,
  tx: Tx,
  account: AccountRow,
  { issuer }: Identity,
  operatorId: string | undefined,
): Promise<void> {
  // Somebody else may have made that account, or changed its address, and wait for the owner of the address.
  if (!decodeBoolean(account.email_verified)) {
    throw refusal(
      `There is an account with your address, but nobody has proven here that the address is theirs. ${signInAsBefore}`,
    )
  }
  if (account.id === operatorId) {
    throw refusal(
      `The account of the operator of this server is not connected by itself. ${signInAsBefore}`,
    )
  }
  // The address may have been given to somebody else at the provider.
  if ((await store.listIdentitiesOf(tx, account.id, issuer)).length > 0) {
    throw refusal(
      `The account with your address is, or was, connected with another account of ${name}. ${signInAsBefore}`,
    )
  }
}

/**
 * The account of somebody who was invited, or who joins the workspace of newcomers. An identity that was connected before needs an
 * invitation: members who were removed would come back.
 */
async function makeAccount(
  parts: SingleSignOnParts,
  { workspaceId, role }: ProviderConfig,
  tx: Tx,
  identity: Identity & { email: string; isKnown: boolean },
  code: string | undefined,
): Promise<Found> {
  const { accounts, members } = parts
  const { email, isKnown } = identity
  const found = code === undefined ? undefined : await members.findInvitation(tx, code)
  const invitation = found?.email === email ? found : undefined
  if (invitation === undefined && (workspaceId === undefined || isKnown)) {
    throw refusal('There is no account with your address: ask for an invitation to it.')
  }
  const accountId = await accounts.create(tx, { email, displayName: identity.name ?? email })
  if (accountId === undefined) throw tooLate()
  await accounts.proveEmail(tx, accountId)
  let given = invitation?.role
  if (invitation !== undefined) {
    if (!(await members.accept(tx, invitation, accountId))) throw tooLate()
  } else if (workspaceId !== undefined) {
    given = await members.addNewcomer(tx, workspaceId, { accountId, email, role })
    if (given === undefined) throw tooLate()
  }
  await insert(parts, tx, identity, accountId)
  const joined = { role: { to: given } }
  const act = { resourceName: email, changes: { ...connection(identity).changes, ...joined } }
  return { accountId, act, isNew: true }
}

async function insert(
  { clock }: SingleSignOnParts,
  tx: Tx,
  { issuer, subject, email }: Identity,
  account_id: string,
): Promise<void> {
  const created_at = isoTime(clock.now())
  const row = { issuer, subject, account_id, email: email ?? null, created_at, ended_at: null }
  if (!(await store.connectIdentity(tx, row))) throw tooLate()
}

const signInAsBefore = 'Sign in as before, then connect it under "My account", "Sign-in".'

function isConnected(row: store.IdentityRow): row is store.IdentityRow & { account_id: string } {
  return row.account_id !== null && row.ended_at === null
}

/** An identity in a record. */
function nameOf({ issuer, subject }: { issuer: string; subject: string }): string {
  return `${issuer} ${subject}`
}

/** The record of a new connection. */
function connection(identity: Identity) {
  return { changes: { singleSignOn: { to: nameOf(identity) } } } satisfies Act
}

function pageOf({ base }: SignInDeps['addresses']): string {
  return `${base()}/dashboard/sso`
}

function refuse(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  if (error.isAway) throw new ApiError('OperationTimeout', error.message, { cause: error })
  throw refusal(error.message, error)
}

function refusal(message: string, cause?: unknown): ApiError {
  return new ApiError('Forbidden', message, { cause })
}

function unverified(name: string): ApiError {
  return refusal(`${name} has not verified your email address: verify it there first.`)
}

function tooLate(): ApiError {
  return refusal('Another sign-in was faster. Sign in again.')
}

function noProvider(): ApiError {
  return new ApiError('ResourceNotFound', 'This server has no single sign-on.')
}

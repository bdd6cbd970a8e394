import { ApiError, type Body, type contract } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import type { Browser } from '../../../domain/browser.js'
import { bound } from '../../../platform/bound.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hashToken } from '../../../platform/ids.js'
import type { AccountRow } from '../accounts/index.js'
import { browsing } from '../audit/index.js'
import { recordOfAccount, recordOwn } from '../members/index.js'
import type { SessionDetails, SignedIn, SignInDeps } from './deps.js'
import { requestReset } from './forgotten.js'
import { holdWays, proveOwner } from './owner.js'
import { deleteChallengesOf, deletePasskeysOf } from './passkey-store.js'
import * as passkeys from './passkeys.js'
import type { Provider } from './provider.js'
import {
  confirmSecondFactor,
  type FactorParts,
  type Progress,
  removeSecondFactor,
  renewRecoveryCodes,
  signInWithSecondFactor,
  startSecondFactor,
  ticketFor,
} from './second-factor.js'
import { countRecoveryCodes, deleteTicketsOf, findSecondFactor } from './second-factor-store.js'
import {
  connectSingleSignOn,
  disconnectSingleSignOn,
  finishSingleSignOn,
  type SingleSignOnParts,
  startSingleSignOn,
} from './single-sign-on.js'
import { endIdentities, listConnected } from './single-sign-on-store.js'
import * as store from './store.js'
import { relyingPartyAt } from './webauthn.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** An account is deleted; subscribers delete its rows that do not refer to it. */
    'account.removed': { accountId: string }
  }
}

export type SignInService = ReturnType<typeof createSignInService>

export function createSignInService(deps: SignInDeps, provider: Provider | undefined) {
  const parts: FactorParts = {
    ...deps,
    begin: (tx, accountId, browser, note) => begin(deps, tx, accountId, browser, { note }),
  }
  const signOn: SingleSignOnParts = {
    ...deps,
    provider,
    proceed: (tx, accountId, browser, details) => proceed(deps, tx, accountId, browser, details),
  }
  return {
    ...bound(signOn, {
      startSingleSignOn,
      finishSingleSignOn,
      connectSingleSignOn,
      disconnectSingleSignOn,
    }),
    ...bound(deps, {
      withPassword: signInWithPassword,
      getWays,
      requestReset,
      getReset,
      reset: resetPassword,
      getSecurity,
      changePassword,
      changeEmail,
      removeAccount,
      startPasskeySignIn: passkeys.startPasskeySignIn,
      listPasskeys: passkeys.listPasskeys,
      finishPasskey: passkeys.finishPasskey,
      updatePasskey: passkeys.updatePasskey,
      removePasskey: passkeys.removePasskey,
    }),
    ...bound(parts, {
      signInWithPasskey: passkeys.signInWithPasskey,
      startPasskey: passkeys.startPasskey,
      withSecondFactor: signInWithSecondFactor,
      startSecondFactor,
      confirmSecondFactor,
      renewRecoveryCodes,
      removeSecondFactor,
    }),
  }
}

async function signInWithPassword(
  deps: SignInDeps,
  { email, password, note }: Body<typeof contract.signIn.withPassword>,
  browser: Browser,
): Promise<Progress> {
  const proven = await deps.passwords.prove(email, password, browser)
  return await deps.run(async (tx) => {
    await deps.passwords.settle(tx, proven)
    return await proceed(deps, tx, proven.account.id, browser, { note })
  })
}

/** Begins the session of an account that was proven, or asks for its second factor. */
async function proceed(
  deps: SignInDeps,
  tx: Tx,
  accountId: string,
  browser: Browser,
  details: SessionDetails = {},
): Promise<Progress> {
  const ticket = await ticketFor(deps, tx, accountId, details.note ?? '')
  if (ticket !== undefined) return { waiting: ticket }
  return { done: await begin(deps, tx, accountId, browser, details) }
}

async function begin(
  { passwords, sessions }: SignInDeps,
  tx: Tx,
  accountId: string,
  browser: Browser,
  details: SessionDetails,
): Promise<SignedIn> {
  return {
    session: await sessions.begin(tx, accountId, browser, details),
    device: await passwords.rememberDevice(tx, accountId, browser.device),
  }
}

/** What people may sign in with. */
function getWays({ mail, singleSignOn, addresses }: SignInDeps) {
  const party = relyingPartyAt(addresses.base())
  return {
    mail: mail.isOn,
    ...(singleSignOn !== undefined && { singleSignOn: { name: singleSignOn.name } }),
    ...(party !== undefined && { passkeys: { origin: party.origin } }),
  }
}

async function getReset(
  deps: SignInDeps,
  code: string,
): Promise<{ account: AccountRow; expiresAt: string }> {
  const row = await store.findReset(deps.db, hashToken(code), isoTime(deps.clock.now()))
  const account = row && (await deps.accounts.findMany([row.account_id])).get(row.account_id)
  if (account === undefined) throw noReset()
  return { account, expiresAt: row?.expires_at ?? '' }
}

async function resetPassword(
  deps: SignInDeps,
  { code, password }: Body<typeof contract.signIn.reset>,
  browser: Browser,
): Promise<Progress> {
  const { account } = await getReset(deps, code)
  const hash = await deps.passwords.hash(password, ownerOf(account))
  const isOperator = await deps.accounts.isOperator(account.id)
  return await deps.run(async (tx) => {
    const taken = await store.takeReset(tx, hashToken(code), isoTime(deps.clock.now()))
    if (taken?.account_id !== account.id) throw noReset()
    // The address may have been changed while the link was made: that mailbox proves nothing of the new one.
    const { mailed_to: mailedTo } = taken
    const isMoved =
      mailedTo !== null && (await deps.accounts.findIn(tx, account.id))?.email !== mailedTo
    if (isMoved) throw noReset()
    // First, because they lock what other sign-ins lock before the password. Somebody else may have made the connection, or added the
    // passkey.
    await endIdentities(tx, account.id, isoTime(deps.clock.now()))
    await deletePasskeysOf(tx, account.id)
    if (mailedTo !== null) await proveAddress(deps, tx, account.id, isOperator)
    await replacePassword(deps, tx, account.id, hash)
    const progress = await proceed(deps, tx, account.id, browser)
    // Otherwise the session that begins is recorded.
    if ('waiting' in progress) {
      recordOfAccount(deps, tx, { ...browsing(account.id, browser), accountId: account.id })
    }
    return progress
  })
}

function noReset(): ApiError {
  return new ApiError(
    'ResourceNotFound',
    'The link is not valid: it was used or replaced, or is too old. Ask for another one.',
  )
}

/**
 * The person has the mailbox of the account. If nobody proved that before, the account may have been made or changed by
 * somebody else who only named the address: what they can still use ends.
 */
async function proveAddress(
  { accounts, sessions }: SignInDeps,
  tx: Tx,
  accountId: string,
  isOperator: boolean,
): Promise<void> {
  const isNew = await accounts.proveEmail(tx, accountId)
  if (!isNew) return
  // The operator has the server itself, and programs that would stop.
  if (!isOperator) await sessions.revokePersonal(tx, accountId)
}

/** Sets a password, and ends what rests on the one before. @param keptSession id of the session that stays */
async function replacePassword(
  { passwords, sessions }: SignInDeps,
  tx: Tx,
  accountId: string,
  hash: string,
  keptSession?: string,
): Promise<void> {
  // First: a sign-in with the old password that holds it ends before, and its session with the others.
  await passwords.set(tx, accountId, hash)
  await passwords.forgetDevices(tx, accountId)
  await store.deleteResetsOf(tx, accountId)
  await deleteTicketsOf(tx, accountId)
  await deleteChallengesOf(tx, accountId)
  await sessions.endAll(tx, accountId, keptSession)
}

async function getSecurity({ db, passwords }: SignInDeps, { accountId }: AccountActor) {
  const password = await passwords.find(accountId)
  const since = (await findSecondFactor(db, accountId))?.since ?? undefined
  const identities = await listConnected(db, accountId)
  return {
    hasPassword: password !== undefined,
    ...(password !== undefined && { passwordChangedAt: password.changedAt }),
    identities: identities.map(({ email, created_at }) => ({
      ...(email !== null && { email }),
      since: created_at,
    })),
    passkeys: (await passkeys.listPasskeys({ db }, { accountId })).length,
    ...(since !== undefined && {
      secondFactor: { since, recoveryCodesLeft: await countRecoveryCodes(db, accountId) },
    }),
  }
}

/** @returns the secret by which the browser is known from now on */
async function changePassword(
  deps: SignInDeps,
  actor: AccountActor,
  { currentPassword, password }: Body<typeof contract.accountSecurity.changePassword>,
  browser: Browser,
): Promise<string> {
  const { passwords } = deps
  const account = await deps.accounts.get(actor)
  const settle = await proveOwner(deps, account, currentPassword, browser)
  const hash = await passwords.hash(password, ownerOf(account))
  return await deps.run(async (tx) => {
    await holdWays(tx, account.id)
    await settle(tx)
    await replacePassword(deps, tx, account.id, hash, actor.tokenId)
    recordOwn(deps, tx, actor)
    return await passwords.rememberDevice(tx, account.id, browser.device)
  })
}

async function changeEmail(
  deps: SignInDeps,
  actor: AccountActor,
  { currentPassword, email }: Body<typeof contract.accountSecurity.changeEmail>,
  browser: Browser,
): Promise<void> {
  const { run, dialect, accounts } = deps
  const account = await accounts.get(actor)
  const settle = await proveOwner(deps, account, currentPassword, browser)
  const taken = (cause?: unknown) =>
    new ApiError('AlreadyExists', 'body.email: another account has this address.', {
      metadata: { in: 'body', field: 'email' },
      cause,
    })
  await run(async (tx) => {
    await settle(tx)
    if (!(await accounts.changeEmail(tx, account.id, email))) throw taken()
    const changes = { email: { from: account.email, to: email.toLowerCase() } }
    recordOwn(deps, tx, actor, { changes })
    await store.deleteMailedResetsOf(tx, account.id)
  }).catch((error: unknown) => {
    throw dialect.isUniqueViolation(error) ? taken(error) : error
  })
}

async function removeAccount(
  deps: SignInDeps,
  actor: AccountActor,
  { currentPassword }: Body<typeof contract.accountSecurity.removeAccount>,
  browser: Browser,
): Promise<void> {
  const { run, clock, dialect, accounts, members, sessions, domainEvents } = deps
  const account = await accounts.get(actor)
  const settle = await proveOwner(deps, account, currentPassword, browser)
  // The oldest account is the operator's, so another one would take its place.
  if (await accounts.isOperator(account.id)) {
    throw new ApiError(
      'ReferenceConstraint',
      'The account of the first start is that of the operator of the server, and cannot be deleted.',
    )
  }
  await run(async (tx) => {
    // First, as all who also lock the password.
    await holdWays(tx, account.id)
    await endIdentities(tx, account.id, isoTime(clock.now()))
    await settle(tx)
    await members.leaveAll(tx, actor)
    await sessions.endAccount(tx, account.id)
    await domainEvents.raise(tx, 'account.removed', { accountId: account.id })
    await accounts.remove(tx, account.id)
  }).catch((error: unknown) => {
    if (!dialect.isForeignKeyViolation(error)) throw error
    throw new ApiError(
      'ReferenceConstraint',
      'The account created a workspace a moment ago: delete that first.',
      { cause: error },
    )
  })
}

function ownerOf({ email, display_name }: AccountRow) {
  return { email, displayName: display_name }
}

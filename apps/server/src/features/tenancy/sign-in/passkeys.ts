import { randomBytes } from 'node:crypto'
import { ApiError, type Body, type contract, type Output, type Params } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import type { Browser } from '../../../domain/browser.js'
import { fieldError, notFound } from '../../../domain/refusals.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeBoolean, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hashToken } from '../../../platform/ids.js'
import { browsing } from '../audit/index.js'
import { recordOfAccount, recordOwn } from '../members/index.js'
import { requireFewBegun } from './begun.js'
import { browserSecret, type SignedIn, type SignInDeps } from './deps.js'
import { canSignIn, holdWays, proveOwner, type Settle } from './owner.js'
import * as store from './passkey-store.js'
import { type FactorParts, proveFactor, settleFactor } from './second-factor.js'
import { findSecondFactor } from './second-factor-store.js'
import {
  algorithms,
  challengeIn,
  refusalOf,
  relyingPartyAt,
  requireRelyingParty,
  verifyNewCredential,
  verifyProof,
} from './webauthn.js'

const minute = 60_000
/** Milliseconds that a person has for their device. */
const challengeLifetime = 5 * minute
/** Passkeys of an account. */
const maxPasskeys = 20

type CreationOptions = Output<typeof contract.passkeys.start>['options']
type RequestOptions = Output<typeof contract.passkeys.startSignIn>['options']

/** What a browser asks its device for, and the secret that it keeps. */
export interface BegunCeremony<Options> {
  options: Options
  secret: string
}

export async function startPasskeySignIn(
  deps: SignInDeps,
  browser: Browser,
): Promise<BegunCeremony<RequestOptions>> {
  const { id: rpId } = requireRelyingParty(deps.addresses.base())
  const { challenge, secret } = await deps.run(async (tx) => {
    await requireFewBegun(deps.clock, browser, (address, now) =>
      store.countSignIns(tx, address, now),
    )
    return await addChallenge(deps, tx, browser, null)
  })
  const options = { challenge, rpId, userVerification: 'required', timeout: challengeLifetime }
  return { options: options as RequestOptions, secret }
}

export async function signInWithPasskey(
  parts: FactorParts,
  { credential }: Body<typeof contract.passkeys.signIn>,
  browser: Browser,
): Promise<SignedIn> {
  const { db, run, clock, passwords } = parts
  const party = requireRelyingParty(parts.addresses.base())
  const { clientDataJSON, userHandle } = credential.response
  const challenge = await takeChallenge(parts, clientDataJSON, browser, null)
  const known = await store.findPasskey(db, credential.id)
  if (known === undefined || userHandleOf(known.account_id) !== userHandle) throw unknownPasskey()
  const proof = await verifyProof(party, challenge, credential, known)
  const accountId = known.account_id
  const signedIn = await run(async (tx) => {
    await store.holdPasskeys(tx, accountId)
    const passkey = await store.findPasskey(tx, credential.id)
    if (passkey === undefined) throw unknownPasskey()
    const { id, counter, name } = passkey
    // Devices that do not count say 0 each time.
    if ((proof.counter > 0 || counter > 0) && proof.counter <= counter) {
      const changes = { passkeyRefusedForItsCounter: { from: counter, to: proof.counter } }
      const act = { resourceId: id, resourceName: name, changes }
      recordOfAccount(parts, tx, { ...browsing(accountId, browser), accountId }, act)
      return undefined
    }
    await store.patchPasskey(tx, id, {
      counter: proof.counter,
      is_backed_up: encodeBoolean(proof.isBackedUp),
      last_used_at: isoTime(clock.now()),
    })
    // A new password at the same time ends this session.
    await passwords.hold(tx, accountId)
    return await parts.begin(tx, accountId, browser, `Signed in with the passkey ${name}`)
  })
  if (signedIn !== undefined) return signedIn
  throw refusalOf(
    'Unauthorized',
    'The passkey was not accepted: its use counter did not increase, so that it may have been copied. Sign in another way, remove it, and add a new one.',
  )
}

export async function listPasskeys(
  { db }: Pick<SignInDeps, 'db'>,
  { accountId }: Pick<AccountActor, 'accountId'>,
): Promise<store.PasskeyRow[]> {
  return await store.listPasskeys(db, accountId)
}

/** Begins to add a passkey, for which the caller proves to be the owner of the account. */
export async function startPasskey(
  parts: FactorParts,
  actor: AccountActor,
  { currentPassword, code }: Body<typeof contract.passkeys.start>,
  browser: Browser,
): Promise<BegunCeremony<CreationOptions>> {
  const { id, origin } = requireRelyingParty(parts.addresses.base())
  const account = await parts.accounts.get(actor)
  const settle = await proveOwner(parts, account, currentPassword, browser)
  // A passkey does without the second factor, so that the password alone must not make one.
  const settleCode = await proveCode(parts, account.id, code, browser)
  const known = await store.listPasskeys(parts.db, account.id)
  if (known.length >= maxPasskeys) throw tooMany()
  const { challenge, secret } = await parts.run(async (tx) => {
    await store.holdPasskeys(tx, account.id)
    await settle(tx)
    await settleCode(tx)
    return await addChallenge(parts, tx, browser, account.id)
  })
  const options: CreationOptions = {
    challenge,
    rp: { id, name: `Botstead ${new URL(origin).host}` },
    user: {
      id: userHandleOf(account.id),
      name: account.email,
      displayName: account.display_name ?? account.email,
    },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known.map((row) => ({ type: 'public-key', id: row.credential_id })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
    timeout: challengeLifetime,
  }
  return { options, secret }
}

export async function finishPasskey(
  deps: SignInDeps,
  actor: AccountActor,
  { name, credential }: Body<typeof contract.passkeys.finish>,
  browser: Browser,
): Promise<store.PasskeyRow> {
  const { run, clock, ids, sessions } = deps
  const { accountId } = actor
  const party = requireRelyingParty(deps.addresses.base())
  const { clientDataJSON, transports = [] } = credential.response
  const challenge = await takeChallenge(deps, clientDataJSON, browser, accountId)
  const made = await verifyNewCredential(party, challenge, credential)
  const row: store.PasskeyRow = {
    id: ids.next('passkey'),
    account_id: accountId,
    credential_id: made.credentialId,
    public_key: made.publicKey,
    counter: made.counter,
    transports: encodeJson(transports),
    host: party.id,
    name,
    is_syncable: encodeBoolean(made.isSyncable),
    is_backed_up: encodeBoolean(made.isBackedUp),
    created_at: isoTime(clock.now()),
    last_used_at: null,
  }
  await run(async (tx) => {
    await store.holdPasskeys(tx, accountId)
    // What ended the sessions of the account meanwhile also ends what they began.
    if ((await sessions.find(tx, browser))?.account_id !== accountId) {
      throw refusalOf(
        'InvalidPayload',
        'You were signed out meanwhile: sign in, and add the passkey again.',
      )
    }
    if ((await store.listPasskeys(tx, accountId)).length >= maxPasskeys) throw tooMany()
    if (!(await store.insertPasskey(tx, row))) {
      throw new ApiError('AlreadyExists', 'This passkey was added before.')
    }
    recordOwn(deps, tx, actor, { resourceId: row.id, resourceName: name })
  })
  return row
}

export async function updatePasskey(
  deps: SignInDeps,
  actor: AccountActor,
  { id }: Params<typeof contract.passkeys.update>,
  { name }: Body<typeof contract.passkeys.update>,
): Promise<store.PasskeyRow> {
  return await deps.run(async (tx) => {
    await store.holdPasskeys(tx, actor.accountId)
    const before = requirePasskey(await store.listPasskeys(tx, actor.accountId), id)
    const changes = { name: { from: before.name, to: name } }
    recordOwn(deps, tx, actor, { resourceId: id, resourceName: before.name, changes })
    return await store.patchPasskey(tx, id, { name })
  })
}

/** Removes a passkey, and ends the other sessions of its owner. */
export async function removePasskey(
  deps: SignInDeps,
  actor: AccountActor,
  { id }: Params<typeof contract.passkeys.remove>,
  { currentPassword }: Body<typeof contract.passkeys.remove>,
  browser: Browser,
): Promise<void> {
  const { run, accounts, passwords, sessions } = deps
  const account = await accounts.get(actor)
  requirePasskey(await store.listPasskeys(deps.db, account.id), id)
  const settle = await proveOwner(deps, account, currentPassword, browser)
  const hasPassword = (await passwords.find(account.id)) !== undefined
  const host = relyingPartyAt(deps.addresses.base())?.id
  await run(async (tx) => {
    await holdWays(tx, account.id)
    const passkey = requirePasskey(await store.listPasskeys(tx, account.id), id)
    await store.deletePasskey(tx, id)
    // One for another host signs nobody in.
    if (passkey.host === host && !hasPassword && !(await canSignIn(deps, tx, account.id))) {
      throw new ApiError(
        'ReferenceConstraint',
        'You sign in with this passkey only: set a password or add another passkey first.',
      )
    }
    await settle(tx)
    await sessions.endAll(tx, account.id, actor.tokenId)
    recordOwn(deps, tx, actor, { resourceId: id, resourceName: passkey.name })
  })
}

/** Proves the second factor of an account, if it has one. */
async function proveCode(
  parts: FactorParts,
  accountId: string,
  code: string | undefined,
  browser: Browser,
): Promise<Settle> {
  if ((await findSecondFactor(parts.db, accountId))?.since == null) return async () => {}
  if (code === undefined) {
    throw fieldError('body.code', 'must be given, because the account has a second factor.')
  }
  const proven = await proveFactor(parts, accountId, code, browser, 'InvalidPayload')
  return (tx) => settleFactor(parts, tx, proven, 'InvalidPayload')
}

/** @param accountId that gets the passkey; null for a sign-in */
async function addChallenge(
  { clock }: SignInDeps,
  tx: Tx,
  browser: Browser,
  accountId: string | null,
): Promise<{ challenge: string; secret: string }> {
  const challenge = randomBytes(32).toString('base64url')
  const secret = browserSecret(browser)
  await store.insertChallenge(tx, {
    hash: hashToken(challenge),
    browser: hashToken(secret),
    account_id: accountId,
    address: browser.isLocal ? null : browser.address,
    expires_at: isoTime(clock.now() + challengeLifetime),
  })
  return { challenge, secret }
}

/** The challenge that a browser had signed, used up whatever comes of it. */
async function takeChallenge(
  { db, run, clock }: SignInDeps,
  clientDataJSON: string,
  { signOn = '' }: Browser,
  accountId: string | null,
): Promise<string> {
  const challenge = challengeIn(clientDataJSON)
  const wanted = { hash: hashToken(challenge), browser: hashToken(signOn), account_id: accountId }
  const now = isoTime(clock.now())
  // Read first: anybody may send one, and a write waits for others.
  const isWaiting = await store.isChallengeWaiting(db, wanted, now)
  if (isWaiting && (await run((tx) => store.takeChallenge(tx, wanted, now)))) return challenge
  throw refusalOf(
    accountId === null ? 'Unauthorized' : 'InvalidPayload',
    'This was not begun in this browser, was used or replaced, or took longer than five minutes. Begin again.',
  )
}

/** A passkey as the interface shows it. */
export function toPasskey(
  row: store.PasskeyRow,
): Output<typeof contract.passkeys.list>['passkeys'][number] {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    host: row.host,
    syncable: decodeBoolean(row.is_syncable),
    backedUp: decodeBoolean(row.is_backed_up),
  }
}

/** The id of an account as devices keep it, which says nothing about the person. */
function userHandleOf(accountId: string): string {
  return Buffer.from(accountId).toString('base64url')
}

function requirePasskey(passkeys: readonly store.PasskeyRow[], id: string): store.PasskeyRow {
  const found = passkeys.find((row) => row.id === id)
  if (found === undefined) throw notFound('passkey', id, 'of your account')
  return found
}

function unknownPasskey(): ApiError {
  return refusalOf(
    'Unauthorized',
    'This passkey is not known here: it was removed. Sign in another way, and delete it from your device.',
  )
}

function tooMany(): ApiError {
  return new ApiError(
    'LimitExceeded',
    `An account has ${maxPasskeys} passkeys at most: remove one first.`,
  )
}

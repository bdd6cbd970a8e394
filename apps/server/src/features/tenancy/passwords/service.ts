import { ApiError } from '@botstead/contract'
import type { Browser } from '../../../domain/browser.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { hashToken, newToken } from '../../../platform/ids.js'
import type { AccountRow, AccountsService } from '../accounts/index.js'
import { createPasswordHasher, type PasswordCost, type PasswordHasher } from './hashing.js'
import { type PasswordOwner, requireGoodPassword } from './rules.js'
import * as store from './store.js'
import { type Counted, countAttempt, countedBy, forgiveAttempt } from './throttle.js'

export interface PasswordsDeps {
  db: Db
  run: Run
  clock: Clock
  accounts: Pick<AccountsService, 'findByEmail'>
  /** The work of each hash, where it is not the usual one. */
  cost?: PasswordCost | undefined
}

interface PasswordParts extends PasswordsDeps {
  hasher: PasswordHasher
}

/** A password that was right a moment ago, to be settled in the transaction of what it permits. */
interface ProvenPassword {
  account: AccountRow
  /** The stored hash that it was compared with. */
  hash: string
  /** The same password hashed as is usual today; undefined if it was already. */
  renewed: string | undefined
  counted: readonly Counted[]
}

export type PasswordsService = ReturnType<typeof createPasswordsService>

/** Browsers that are remembered for each account. */
const maxDevices = 50

export function createPasswordsService(deps: PasswordsDeps) {
  const parts: PasswordParts = { ...deps, hasher: createPasswordHasher(deps.cost) }
  return bound(parts, {
    hash: hashPassword,
    set: setPassword,
    prove: provePassword,
    proveOwn: proveOwnPassword,
    settle: settlePassword,
    hold: holdPassword,
    countedBy: countedFor,
    find: findPassword,
    listAccounts: listAccountsWithPassword,
    rememberDevice,
    forgetDevices,
  })
}

/** The stored form of a password that somebody chooses. @throws ApiError for one that is easily guessed */
async function hashPassword(
  { hasher }: PasswordParts,
  password: string,
  owner: PasswordOwner,
): Promise<string> {
  requireGoodPassword(password, owner)
  return await hasher.hash(password)
}

/** @param hash as `hash` returns it */
async function setPassword(
  { clock }: PasswordParts,
  tx: Tx,
  accountId: string,
  hash: string,
): Promise<void> {
  await store.upsertPassword(tx, {
    account_id: accountId,
    hash,
    changed_at: isoTime(clock.now()),
  })
}

/**
 * Compares a password with that of the account with an address. Unknown addresses, and accounts without a password, take as
 * long and are refused in the same words.
 */
async function provePassword(
  parts: PasswordParts,
  email: string,
  password: string,
  browser: Browser,
): Promise<ProvenPassword> {
  const account = await parts.accounts.findByEmail(parts.db, email.toLowerCase())
  const subject = `password:${email.toLowerCase()}`
  const proven = await compare(parts, account, subject, password, browser)
  if (proven === undefined) {
    throw new ApiError('Unauthorized', 'body.password: the address or the password is wrong.', {
      metadata: { in: 'body', field: 'password' },
    })
  }
  return proven
}

/**
 * Compares a password with that of an account which is signed in, before something that a stolen session alone must not do.
 * @returns undefined if the account has no password
 */
async function proveOwnPassword(
  parts: PasswordParts,
  account: AccountRow,
  password: string | undefined,
  browser: Browser,
): Promise<ProvenPassword | undefined> {
  if ((await store.findPassword(parts.db, account.id)) === undefined) return undefined
  const refuse = (rule: string) =>
    new ApiError('InvalidPayload', `body.currentPassword: ${rule}`, {
      metadata: { in: 'body', field: 'currentPassword' },
    })
  if (password === undefined) throw refuse('the current password must be given.')
  const subject = `password:${account.email}`
  const proven = await compare(parts, account, subject, password, browser)
  if (proven === undefined) throw refuse('the password is wrong.')
  return proven
}

async function compare(
  { db, run, clock, hasher }: PasswordParts,
  account: AccountRow | undefined,
  subject: string,
  password: string,
  browser: Browser,
): Promise<ProvenPassword | undefined> {
  const accountId = account?.id ?? ''
  const counted = await countedFor({ db }, subject, accountId, browser)
  await run((tx) => countAttempt(tx, clock, counted), { mayUseReserve: true })
  const hash = (await store.findPassword(db, accountId))?.hash
  const isRight = await hasher.verify(password, hash)
  if (account === undefined || hash === undefined || !isRight) return undefined
  const renewed = hasher.isOutdated(hash) ? await hasher.hash(password) : undefined
  return { account, hash, renewed, counted }
}

/** What the attempts of a browser to prove something of an account are counted by. */
async function countedFor(
  { db }: Pick<PasswordParts, 'db'>,
  subject: string,
  accountId: string,
  browser: Browser,
): Promise<Counted[]> {
  const device = hashToken(browser.device ?? '')
  const isKnown = await store.isKnownDevice(db, accountId, device)
  return countedBy(subject, isKnown ? device : undefined, browser)
}

/**
 * Ends the attempt that proved a password. Until the transaction ends, nobody changes the password, so that what it permits
 * comes before the change and ends with it, or is refused.
 */
async function settlePassword(
  { clock }: PasswordParts,
  tx: Tx,
  { account, hash, renewed, counted }: ProvenPassword,
): Promise<void> {
  const current = await store.lockPassword(tx, account.id)
  if (current?.hash !== hash) {
    throw new ApiError('Unauthorized', 'The password was changed a moment ago: sign in with it.')
  }
  if (renewed !== undefined) await store.patchHash(tx, account.id, renewed)
  await forgiveAttempt(tx, clock, counted)
}

/**
 * Makes sign-ins with the password of an account wait until the transaction ends: each comes before it, with its session, or
 * after it.
 */
async function holdPassword(_: PasswordParts, tx: Tx, accountId: string): Promise<void> {
  await store.lockPassword(tx, accountId)
}

/** The password of an account without its hash; undefined if it has none. */
async function findPassword(
  { db }: PasswordParts,
  accountId: string,
): Promise<{ changedAt: string } | undefined> {
  const row = await store.findPassword(db, accountId)
  return row && { changedAt: row.changed_at }
}

/** The ids of the accounts that have a password. */
async function listAccountsWithPassword({ db }: PasswordParts): Promise<Set<string>> {
  return new Set(await store.listAccountsWithPassword(db))
}

/** Remembers that a browser signed in to an account. @returns the secret that it keeps from now on */
async function rememberDevice(
  { clock }: PasswordParts,
  tx: Tx,
  accountId: string,
  known: string | undefined,
): Promise<string> {
  const secret = known?.startsWith('bp_dev_') ? known : newToken('bp_dev_')
  await store.upsertDevice(tx, accountId, hashToken(secret), isoTime(clock.now()), maxDevices)
  return secret
}

/** Forgets all browsers of an account. */
async function forgetDevices(_: PasswordParts, tx: Tx, accountId: string): Promise<void> {
  await store.deleteDevices(tx, accountId)
}

import { randomBytes } from 'node:crypto'
import { ApiError, type Body, type contract } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import type { Browser } from '../../../domain/browser.js'
import { fieldError } from '../../../domain/refusals.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hashToken, newToken } from '../../../platform/ids.js'
import { recordOwn } from '../members/index.js'
import { type Counted, countAttempt, forgiveAttempt } from '../passwords/index.js'
import type { SignedIn, SignInDeps } from './deps.js'
import * as store from './second-factor-store.js'
import { base32, newTotpSecret, stepOfCode } from './totp.js'

/** Milliseconds between a right password and the code. */
const ticketLifetime = 5 * 60 * 1000
const recoveryCodes = 10
/** 80 bits for each recovery code, so that a fast hash protects it. */
const recoveryBytes = 10

/** A right password whose account has a second factor: not a session, and good for nothing but the second step. */
export interface Ticket {
  value: string
  expiresAt: string
}

/** How far a sign-in came: a session, or the ticket of the second step. */
export type Progress = { done: SignedIn } | { waiting: Ticket }

/** A code that was right a moment ago, to be used up in the transaction of what it permits. */
interface ProvenFactor {
  factor: store.SecondFactorRow
  /** The step of a code of the app; undefined for a recovery code. */
  step: number | undefined
  code: string
  counted: readonly Counted[]
}

export interface FactorParts extends SignInDeps {
  /** Signs the browser in to an account that was proven. */
  begin(tx: Tx, accountId: string, browser: Browser, note: string): Promise<SignedIn>
}

/** A ticket for an account whose second factor is in force; undefined if it has none. */
export async function ticketFor(
  { clock }: SignInDeps,
  tx: Tx,
  accountId: string,
  note: string,
): Promise<Ticket | undefined> {
  if ((await store.findSecondFactor(tx, accountId))?.since == null) return undefined
  const value = newToken('bp_tic_')
  const expiresAt = isoTime(clock.now() + ticketLifetime)
  await store.insertTicket(tx, {
    hash: hashToken(value),
    account_id: accountId,
    note,
    expires_at: expiresAt,
  })
  return { value, expiresAt }
}

export async function signInWithSecondFactor(
  parts: FactorParts,
  { ticket, code }: Body<typeof contract.signIn.withSecondFactor>,
  browser: Browser,
): Promise<SignedIn> {
  const now = () => isoTime(parts.clock.now())
  const hash = hashToken(ticket)
  const found = await store.findTicket(parts.db, hash, now())
  if (found === undefined) throw noTicket()
  const proven = await proveFactor(parts, found.account_id, code, browser)
  return await parts.run(async (tx) => {
    if (!(await store.takeTicket(tx, hash, now()))) throw noTicket()
    await settleFactor(parts, tx, proven)
    return await parts.begin(tx, found.account_id, browser, found.note)
  })
}

/** Begins a second factor; it is in force once a code has confirmed it. */
export async function startSecondFactor(
  parts: FactorParts,
  actor: AccountActor,
  { currentPassword }: Body<typeof contract.accountSecurity.startSecondFactor>,
  browser: Browser,
): Promise<{ secret: string; uri: string }> {
  const { run, sealer, addresses, accounts, passwords } = parts
  const account = await accounts.get(actor)
  const proven = await passwords.proveOwn(account, currentPassword, browser)
  if (proven === undefined) {
    throw fieldError(
      'body.currentPassword',
      'must be given, and the account has no password: set one first.',
    )
  }
  const secret = newTotpSecret()
  await run(async (tx) => {
    await passwords.settle(tx, proven)
    if (!(await store.beginSecondFactor(tx, account.id, sealer.seal(secret)))) {
      throw new ApiError('AlreadyExists', 'There is a second factor: remove it for another one.')
    }
    recordOwn(parts, tx, actor)
  })
  const issuer = `Botstead ${new URL(addresses.base()).host}`
  const label = encodeURIComponent(`${issuer}:${account.email}`)
  const query = new URLSearchParams({ secret, issuer }).toString().replaceAll('+', '%20')
  return { secret, uri: `otpauth://totp/${label}?${query}` }
}

/** Puts a second factor into force, and ends the sessions that began without it. @returns recovery codes */
export async function confirmSecondFactor(
  parts: FactorParts,
  actor: AccountActor,
  code: string,
  browser: Browser,
): Promise<string[]> {
  const { accountId, tokenId } = actor
  const { db, run, clock, sealer, passwords, sessions } = parts
  const factor = await store.findSecondFactor(db, accountId)
  if (factor === undefined || factor.since !== null) throw noFactor('to confirm')
  // Whoever stole the session must not guess a code of one that was begun and left.
  const counted = await passwords.countedBy(`factor:${accountId}`, accountId, browser)
  await run((tx) => countAttempt(tx, clock, counted), { mayUseReserve: true })
  const step = stepOfCode(sealer.open(factor.secret), code.replaceAll(/\s/g, ''), clock.now())
  if (step === undefined) throw wrongCode('InvalidPayload')
  const codes = newRecoveryCodes()
  await run(async (tx) => {
    await passwords.hold(tx, accountId)
    if (!(await store.confirmSecondFactor(tx, factor, step, isoTime(clock.now())))) {
      throw noFactor('to confirm')
    }
    await forgiveAttempt(tx, clock, counted)
    await store.replaceRecoveryCodes(tx, accountId, codes.map(hashRecoveryCode))
    await sessions.endAll(tx, accountId, tokenId)
    recordOwn(parts, tx, actor)
  })
  return codes
}

/** @returns new recovery codes in place of all before */
export async function renewRecoveryCodes(
  parts: FactorParts,
  actor: AccountActor,
  input: Body<typeof contract.accountSecurity.renewRecoveryCodes>,
  browser: Browser,
): Promise<string[]> {
  const codes = newRecoveryCodes()
  await withBoth(parts, actor, input, browser, (tx) =>
    store.replaceRecoveryCodes(tx, actor.accountId, codes.map(hashRecoveryCode)),
  )
  return codes
}

export async function removeSecondFactor(
  parts: FactorParts,
  actor: AccountActor,
  input: Body<typeof contract.accountSecurity.removeSecondFactor>,
  browser: Browser,
): Promise<void> {
  await withBoth(parts, actor, input, browser, async (tx) => {
    await store.deleteSecondFactor(tx, actor.accountId)
    await store.deleteTicketsOf(tx, actor.accountId)
  })
}

/** Does what a stolen session must not: it needs the password and a code. */
async function withBoth(
  parts: FactorParts,
  actor: AccountActor,
  { currentPassword, code }: { currentPassword: string; code: string },
  browser: Browser,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const account = await parts.accounts.get(actor)
  const password = await parts.passwords.proveOwn(account, currentPassword, browser)
  const factor = await proveFactor(parts, account.id, code, browser, 'InvalidPayload')
  await parts.run(async (tx) => {
    if (password !== undefined) await parts.passwords.settle(tx, password)
    await settleFactor(parts, tx, factor, 'InvalidPayload')
    await work(tx)
    recordOwn(parts, tx, actor)
  })
}

/** Compares a code of the app, or a recovery code, with the second factor of an account. */
export async function proveFactor(
  { db, run, clock, sealer, passwords }: FactorParts,
  accountId: string,
  given: string,
  browser: Browser,
  type: 'Unauthorized' | 'InvalidPayload' = 'Unauthorized',
): Promise<ProvenFactor> {
  const code = given.replaceAll(/[\s-]/g, '')
  const counted = await passwords.countedBy(`factor:${accountId}`, accountId, browser)
  await run((tx) => countAttempt(tx, clock, counted), { mayUseReserve: true })
  const factor = await store.findSecondFactor(db, accountId)
  if (factor?.since == null) throw noFactor('in force')
  if (!/^\d+$/.test(code)) return { factor, step: undefined, code, counted }
  const step = stepOfCode(sealer.open(factor.secret), code, clock.now())
  if (step === undefined || step <= factor.last_step) throw wrongCode(type)
  return { factor, step, code, counted }
}

/** Uses a code up, so that it works once. */
export async function settleFactor(
  { clock }: FactorParts,
  tx: Tx,
  { factor, step, code, counted }: ProvenFactor,
  type: 'Unauthorized' | 'InvalidPayload' = 'Unauthorized',
): Promise<void> {
  const isTaken =
    step === undefined
      ? await store.takeRecoveryCode(tx, factor.account_id, hashRecoveryCode(code))
      : await store.takeStep(tx, factor, step)
  if (!isTaken) throw wrongCode(type)
  await forgiveAttempt(tx, clock, counted)
}

function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodes }, () =>
    base32(randomBytes(recoveryBytes))
      .toLowerCase()
      .replace(/^(.{4})(.{4})(.{4})/, '$1-$2-$3-'),
  )
}

function hashRecoveryCode(code: string): string {
  return hashToken(code.replaceAll('-', '').toLowerCase())
}

function wrongCode(type: 'Unauthorized' | 'InvalidPayload'): ApiError {
  return new ApiError(type, 'body.code: the code is wrong, too old or was used.', {
    metadata: { in: 'body', field: 'code' },
  })
}

function noFactor(what: string): ApiError {
  return new ApiError('ResourceNotFound', `The account has no second factor ${what}.`)
}

function noTicket(): ApiError {
  return new ApiError(
    'Unauthorized',
    'body.ticket: too much time has passed. Enter the password again.',
    {
      metadata: { in: 'body', field: 'ticket' },
    },
  )
}

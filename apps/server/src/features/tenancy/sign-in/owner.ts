import { ApiError } from '@botstead/contract'
import type { Browser } from '../../../domain/browser.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { AccountRow } from '../accounts/index.js'
import type { SignInDeps } from './deps.js'
import { holdPasskeys, listPasskeys } from './passkey-store.js'
import { holdConnections, listConnected } from './single-sign-on-store.js'
import { relyingPartyAt } from './webauthn.js'

/** Ends, in a transaction, the attempt that proved the owner of an account. */
export type Settle = (tx: Tx) => Promise<void>

/** Maximum age of the sign-in that replaces the password of an account without one, in milliseconds. */
const maxSignInAge = 10 * 60_000

/**
 * Proves that a call comes from the owner of an account, and not from a stolen session: by the password; without one, by a
 * recent sign-in, not by a personal token. An account that nobody signs in to yet has no other proof than the call.
 */
export async function proveOwner(
  deps: Pick<SignInDeps, 'db' | 'clock' | 'passwords' | 'sessions'>,
  account: AccountRow,
  currentPassword: string | undefined,
  browser: Browser,
): Promise<Settle> {
  const { db, passwords } = deps
  const proven = await passwords.proveOwn(account, currentPassword, browser)
  if (proven !== undefined) return (tx) => passwords.settle(tx, proven)
  const ways = [await listPasskeys(db, account.id), await listConnected(db, account.id)]
  if (ways.flat().length === 0 || (await hasSignedIn(deps, account, browser))) return async () => {}
  throw new ApiError(
    'InvalidPayload',
    'Your account has no password that could prove that it is you: sign out, sign in with a passkey or your provider, and do this again within ten minutes.',
  )
}

async function hasSignedIn(
  { db, clock, sessions }: Pick<SignInDeps, 'db' | 'clock' | 'sessions'>,
  account: AccountRow,
  browser: Browser,
): Promise<boolean> {
  const session = await sessions.find(db, browser)
  if (session?.account_id !== account.id || decodeBoolean(session.by_token)) return false
  return Date.parse(session.created_at) > clock.now() - maxSignInAge
}

/** Makes changes of the ways in which an account signs in wait until the transaction ends. Passwords are locked after this. */
export async function holdWays(tx: Tx, accountId: string): Promise<void> {
  await holdConnections(tx, accountId)
  await holdPasskeys(tx, accountId)
}

/** Whether a passkey or the provider still signs in to an account without a password, whose ways the transaction holds. */
export async function canSignIn(
  { addresses, singleSignOn }: Pick<SignInDeps, 'addresses' | 'singleSignOn'>,
  tx: Tx,
  accountId: string,
): Promise<boolean> {
  const host = relyingPartyAt(addresses.base())?.id
  if ((await listPasskeys(tx, accountId)).some((row) => row.host === host)) return true
  const connected = await listConnected(tx, accountId)
  return connected.some(({ issuer }) => bare(issuer) === bare(singleSignOn?.issuer))
}

/** Settings and providers may differ in the slash at the end. */
function bare(issuer: string | undefined): string | undefined {
  return issuer?.replace(/\/$/, '')
}

import type { Generated } from 'kysely'
import type { JsonColumn } from '../../../platform/db/columns.js'

/** Links that set the password of an account. Only the hash of their code is stored; using one deletes the row. */
export interface PasswordResetsTable {
  /** SHA-256 of the code in hex. */
  hash: string
  account_id: string
  expires_at: string
  /** The address that it was mailed to, which using it proves; null for a link that the operator passed on. */
  mailed_to: string | null
}

/** The authenticator apps of accounts. */
export interface AccountSecondFactorsTable {
  account_id: string
  /** Sealed, in base 32. */
  secret: string
  /** Step of the newest code that was used: it and those before are of no use any more. */
  last_step: number
  /** Time from which it is in force; null until a first code has confirmed it. */
  since: string | null
}

/** Codes for those who do not have their app at hand; using one deletes the row. */
export interface AccountRecoveryCodesTable {
  account_id: string
  /** SHA-256 in hex. */
  hash: string
}

/** Sign-ins whose password was right, and which wait for the second factor. */
export interface SignInTicketsTable {
  /** SHA-256 of the value in hex. */
  hash: string
  account_id: string
  /** Name of the session that will begin. */
  note: string
  expires_at: string
}

/**
 * Accounts at a provider, with which people sign in. An account is connected with one at most of an issuer. The row outlives the
 * connection: otherwise the next sign-in would make it again.
 */
export interface AccountIdentitiesTable {
  issuer: string
  /** Id of the person at the issuer; unique there. */
  subject: string
  /** Null after the account was deleted. */
  account_id: string | null
  /** Address at the issuer when it was connected; null if none was verified. */
  email: string | null
  created_at: string
  /** When the connection was removed; null while it is in force. */
  ended_at: string | null
}

/** Sign-ins whose person is at the provider. */
export interface SingleSignOnAttemptsTable {
  /** SHA-256 of the state in hex. */
  state: string
  /** SHA-256 of the secret in the browser, in hex. */
  browser: string
  /** State, nonce and proof of the exchange, and where it leads, sealed. */
  sealed: string
  /** Network address from which it began; null for this machine. */
  address: Generated<string | null>
  expires_at: string
}

/** Keys of accounts in devices and password managers. */
export interface PasskeysTable {
  id: string
  account_id: string
  /** Id that the device gave it, in base64url; unique. */
  credential_id: string
  /** COSE key in base64url. */
  public_key: string
  /** Uses that the device has counted; 0 for those that do not count. */
  counter: number
  /** JSON list of the ways in which a browser reaches the device. */
  transports: JsonColumn
  /** Host name of the server when it was made: it works nowhere else. */
  host: string
  name: string
  /** 0 or 1: whether it may be copied to other devices of its owner. */
  is_syncable: number
  /** 0 or 1: whether a copy existed at the last use. */
  is_backed_up: number
  created_at: string
  last_used_at: string | null
}

/** Challenges that wait for the answer of a device; using one deletes the row. */
export interface PasskeyChallengesTable {
  /** SHA-256 of the challenge in hex. */
  hash: string
  /** SHA-256 of the secret in the browser, in hex. */
  browser: string
  /** The account that gets the passkey; null for a sign-in. */
  account_id: string | null
  /** Network address of the browser, by which sign-ins are counted; null for one on this machine. */
  address: string | null
  expires_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    account_identities: AccountIdentitiesTable
    account_recovery_codes: AccountRecoveryCodesTable
    account_second_factors: AccountSecondFactorsTable
    passkey_challenges: PasskeyChallengesTable
    passkeys: PasskeysTable
    password_resets: PasswordResetsTable
    single_sign_on_attempts: SingleSignOnAttemptsTable
    sign_in_tickets: SignInTicketsTable
  }
}

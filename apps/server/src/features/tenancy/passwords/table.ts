/** The passwords of accounts; an account without one signs in by other means. */
export interface AccountPasswordsTable {
  account_id: string
  /** As `hashing.ts` writes it: function, parameters, salt and hash. */
  hash: string
  changed_at: string
}

/** Browsers that signed in to an account with its password. */
export interface AccountDevicesTable {
  account_id: string
  /** SHA-256 of the secret in the browser, in hex. */
  hash: string
  last_used_at: string
}

/** Attempts to sign in that did not succeed, by what they are counted by. */
export interface SignInAttemptsTable {
  /** What is counted: an account, a browser at an account, or a network address. */
  key: string
  failures: number
  /** Until when further attempts are refused; null if they are not. */
  blocked_until: string | null
  last_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    account_passwords: AccountPasswordsTable
    account_devices: AccountDevicesTable
    sign_in_attempts: SignInAttemptsTable
  }
}

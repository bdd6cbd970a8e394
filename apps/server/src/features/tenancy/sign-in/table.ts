/** Links that set the password of an account. Only the hash of their code is stored; using one deletes the row. */
export interface PasswordResetsTable {
  /** SHA-256 of the code in hex. */
  hash: string
  account_id: string
  expires_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    password_resets: PasswordResetsTable
  }
}

/** A person. */
export interface AccountsTable {
  id: string
  /** Unique; in lower case. */
  email: string
  /** 0 or 1. */
  email_verified: number
  display_name: string | null
  profile_picture: string | null
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    accounts: AccountsTable
  }
}

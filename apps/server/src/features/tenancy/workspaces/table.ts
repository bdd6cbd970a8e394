/** A tenant. */
export interface WorkspacesTable {
  id: string
  owner_id: string
  name: string
  /** Unique if not null. */
  handle: string | null
  about: string | null
  profile_picture: string | null
  contact_email: string | null
  website: string | null
  /** JSON list of addresses. */
  social_accounts: string | null
  /** 0 or 1. */
  is_public: number
  spending_limit: number
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    workspaces: WorkspacesTable
  }
}

/** The role of a member in a workspace. */
export type Role = 'viewer' | 'billing' | 'developer' | 'manager' | 'administrator' | 'owner'

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

/** The members of workspaces, with their roles. */
export interface WorkspaceMembersTable {
  workspace_id: string
  account_id: string
  role: Role
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    workspaces: WorkspacesTable
    workspace_members: WorkspaceMembersTable
  }
}

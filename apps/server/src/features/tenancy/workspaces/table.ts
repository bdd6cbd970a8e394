import type { Role } from './policy.js'

/** A tenant. */
export interface WorkspacesTable {
  id: string
  owner_id: string
  name: string
  /** Unique where there is one. */
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

/** Who may reach a workspace, and as what. */
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

import type { Role } from '../../../domain/rights.js'

/** The members of workspaces with their roles, and open invitations. */
export interface WorkspaceMembersTable {
  id: string
  workspace_id: string
  /** Null while the invitation is open. Unique in a workspace. */
  account_id: string | null
  /** The address that was invited, in lower case; null for those who have an account. Unique in a workspace. */
  email: string | null
  role: Role
  /** SHA-256 of the code of an open invitation, in hex; unique. */
  invitation_hash: string | null
  invitation_expires_at: string | null
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    workspace_members: WorkspaceMembersTable
  }
}

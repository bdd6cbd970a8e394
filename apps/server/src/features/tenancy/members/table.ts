/** The role of a member in a workspace. */
export type Role = 'viewer' | 'billing' | 'developer' | 'manager' | 'administrator' | 'owner'

/** The members of workspaces, with their roles. */
export interface WorkspaceMembersTable {
  workspace_id: string
  account_id: string
  role: Role
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    workspace_members: WorkspaceMembersTable
  }
}

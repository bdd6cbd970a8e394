import type { Insertable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Role, WorkspaceMembersTable } from './table.js'

/** Makes an account a member of a workspace. */
export async function insertMember(tx: Tx, row: Insertable<WorkspaceMembersTable>): Promise<void> {
  await tx.insertInto('workspace_members').values(row).execute()
}

/** Returns the role of an account in a workspace; undefined if it is no member. */
export async function findRole(
  executor: Db | Tx,
  accountId: string,
  workspaceId: string,
): Promise<Role | undefined> {
  const row = await executor
    .selectFrom('workspace_members')
    .select('role')
    .where('account_id', '=', accountId)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return row?.role
}

/** The workspaces of which an account is a member, with its role in each, to join them in queries. */
export function membershipsOf(executor: Db | Tx, accountId: string) {
  return executor
    .selectFrom('workspace_members')
    .select(['workspace_id', 'role'])
    .where('account_id', '=', accountId)
}

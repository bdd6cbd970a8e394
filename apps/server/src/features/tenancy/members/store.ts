import type { Insertable, Selectable, Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { WorkspaceMembersTable } from './table.js'

export type MemberRow = Selectable<WorkspaceMembersTable>

export async function insertMember(tx: Tx, row: Insertable<WorkspaceMembersTable>): Promise<void> {
  await tx.insertInto('workspace_members').values(row).execute()
}

/** The ids of the workspaces of an account, as a part of a query about workspaces. */
export function workspacesOf(executor: Db | Tx, accountId: string) {
  return executor
    .selectFrom('workspace_members')
    .select('workspace_id')
    .where('account_id', '=', accountId)
}

/** The ids of the workspaces of an account. */
export async function listWorkspacesOf(tx: Tx, accountId: string): Promise<string[]> {
  return (await workspacesOf(tx, accountId).execute()).map(({ workspace_id }) => workspace_id)
}

export async function pageMembers(
  db: Db,
  workspaceId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<MemberRow>> {
  const query = db
    .selectFrom('workspace_members')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
  return await paginate(query, page)
}

/** A member or an open invitation, which nobody else changes or accepts until the transaction ends. */
export async function lockMember(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<MemberRow | undefined> {
  const query = tx
    .selectFrom('workspace_members')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** The membership of an account; undefined if it is no member. */
export async function findMemberOf(
  executor: Db | Tx,
  workspaceId: string,
  accountId: string,
): Promise<MemberRow | undefined> {
  return await executor
    .selectFrom('workspace_members')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

/** The memberships of an account, in the order in which their workspaces are locked. */
export async function listMembershipsOf(tx: Tx, accountId: string): Promise<MemberRow[]> {
  return await tx
    .selectFrom('workspace_members')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('workspace_id')
    .execute()
}

/** The members among some accounts, whom nobody else changes until the transaction ends. */
export async function lockMembersOf(
  tx: Tx,
  workspaceId: string,
  accountIds: readonly string[],
): Promise<string[]> {
  if (accountIds.length === 0) return []
  const query = tx
    .selectFrom('workspace_members')
    .select('account_id')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', 'in', [...accountIds])
    .orderBy('created_at')
    .orderBy('id')
  const rows = await dialectOf(tx).lockRows(query).execute()
  return rows.flatMap(({ account_id }) => account_id ?? [])
}

/** The member with an account or an open invitation for one of some addresses. */
export async function findByEmail(
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<MemberRow | undefined> {
  return await tx
    .selectFrom('workspace_members')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('email', '=', email)
    .executeTakeFirst()
}

/** The open invitation with a code: for callers who are no members, so that it has no scope. */
export async function findInvitation(
  executor: Db | Tx,
  hash: string,
): Promise<MemberRow | undefined> {
  return await executor
    .selectFrom('workspace_members')
    .selectAll()
    .where('invitation_hash', '=', hash)
    .executeTakeFirst()
}

/**
 * The owners of a workspace, oldest first, whom nobody else changes until the transaction ends: two that each take the role
 * of another owner wait for each other.
 */
export async function lockOwners(tx: Tx, workspaceId: string): Promise<MemberRow[]> {
  const query = tx
    .selectFrom('workspace_members')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .where('account_id', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
  return await dialectOf(tx).lockRows(query).execute()
}

export async function countMembers(tx: Db | Tx, workspaceId: string): Promise<number> {
  const { members } = await tx
    .selectFrom('workspace_members')
    .select(({ fn }) => fn.countAll<number>().as('members'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return Number(members)
}

/** @returns whether the member is still there */
export async function patchMember(
  tx: Tx,
  workspaceId: string,
  id: string,
  patch: Updateable<WorkspaceMembersTable>,
): Promise<boolean> {
  const result = await tx
    .updateTable('workspace_members')
    .set(patch)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Accepts an invitation for an account. @returns whether it was still open */
export async function acceptInvitation(
  tx: Tx,
  { id, invitation_hash }: MemberRow,
  accountId: string,
): Promise<boolean> {
  const result = await tx
    .updateTable('workspace_members')
    .set({ account_id: accountId, email: null, invitation_hash: null, invitation_expires_at: null })
    .where('id', '=', id)
    .where('invitation_hash', '=', invitation_hash)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function deleteMember(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const result = await tx
    .deleteFrom('workspace_members')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

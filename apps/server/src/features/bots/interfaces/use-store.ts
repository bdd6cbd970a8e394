import type { Expression } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { InterfaceUsesTable } from './table.js'

export type InterfaceUse = Pick<InterfaceUsesTable, 'alias' | 'interface_id' | 'interface_name'>

/** An integration or a plugin, which uses interfaces. */
export interface InterfaceUser {
  workspaceId: string
  id: string
}

export async function replaceUses(
  tx: Tx,
  { workspaceId, id }: InterfaceUser,
  uses: readonly InterfaceUse[],
): Promise<void> {
  await deleteUses(tx, { workspaceId, id })
  if (uses.length === 0) return
  const rows = uses.map((use) => ({ ...use, user_id: id, workspace_id: workspaceId }))
  await tx.insertInto('interface_uses').values(rows).execute()
}

export async function deleteUses(tx: Tx, { workspaceId, id }: InterfaceUser): Promise<void> {
  await tx
    .deleteFrom('interface_uses')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', id)
    .execute()
}

export async function deleteUsesOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('interface_uses').where('workspace_id', '=', workspaceId).execute()
}

/**
 * One user of an interface, of its own workspace if there is any; undefined without users.
 * @param isElsewhere only of other workspaces
 */
export async function findUser(
  tx: Tx,
  workspaceId: string,
  interfaceId: string,
  { isElsewhere = false } = {},
): Promise<InterfaceUser | undefined> {
  const uses = tx
    .selectFrom('interface_uses')
    .select(['workspace_id', 'user_id'])
    .where('interface_id', '=', interfaceId)
    .limit(1)
  const own = isElsewhere
    ? undefined
    : await uses.where('workspace_id', '=', workspaceId).executeTakeFirst()
  const found =
    own ?? (await uses.where('workspace_id', '!=', workspaceId).executeTakeFirst()) ?? undefined
  return found && { workspaceId: found.workspace_id, id: found.user_id }
}

/** The uses of interfaces by a user, as a subquery for `exists`. */
export function usesIn(
  db: Db,
  userId: Expression<string>,
  of: { interfaceId: string } | { interfaceName: string },
) {
  const uses = db.selectFrom('interface_uses').select('alias').where('user_id', '=', userId)
  return 'interfaceId' in of
    ? uses.where('interface_id', '=', of.interfaceId)
    : uses.where('interface_name', '=', of.interfaceName)
}

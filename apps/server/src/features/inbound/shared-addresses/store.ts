import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { SharedAddressesTable } from './table.js'

export type SharedAddressRow = Selectable<SharedAddressesTable>

/** Gives an address to an integration of a workspace, unless one has it already. */
export async function claimAddress(tx: Tx, row: SharedAddressRow): Promise<void> {
  await tx
    .insertInto('shared_addresses')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The rows of some addresses. */
export async function findAddresses(
  executor: Db | Tx,
  addresses: readonly string[],
): Promise<SharedAddressRow[]> {
  return await executor
    .selectFrom('shared_addresses')
    .selectAll()
    .where('address', 'in', [...addresses])
    .execute()
}

export async function deleteAddress(
  tx: Tx,
  { address, workspace_id }: Pick<SharedAddressRow, 'address' | 'workspace_id'>,
): Promise<void> {
  await tx
    .deleteFrom('shared_addresses')
    .where('address', '=', address)
    .where('workspace_id', '=', workspace_id)
    .execute()
}

/** Keeps an address from all but one workspace until a time; from all, if the workspace is empty. */
export async function keepAddress(
  tx: Tx,
  { address, workspace_id, kept_until }: SharedAddressRow,
): Promise<void> {
  const kept = { workspace_id, kept_until }
  await tx.updateTable('shared_addresses').set(kept).where('address', '=', address).execute()
}

/** The addresses of a workspace. */
export async function listAddressesOf(tx: Tx, workspaceId: string): Promise<SharedAddressRow[]> {
  return await tx
    .selectFrom('shared_addresses')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('address')
    .execute()
}

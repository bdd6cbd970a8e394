import type { Db, Tx } from '../../../platform/db/schema.js'
import type { TunnelsTable } from './table.js'

export type TunnelRow = TunnelsTable

export async function findTunnel(executor: Db | Tx, id: string): Promise<TunnelRow | undefined> {
  return await executor.selectFrom('tunnels').selectAll().where('id', '=', id).executeTakeFirst()
}

/** @returns whether there was none with this id */
export async function insertTunnel(tx: Tx, row: TunnelRow): Promise<boolean> {
  const result = await tx
    .insertInto('tunnels')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return Number(result.numInsertedOrUpdatedRows ?? 0n) > 0
}

/**
 * Replaces the connection of a tunnel.
 * @param from the connection that it has, as was read; another one was faster otherwise
 * @returns whether it had that connection
 */
export async function patchConnection(
  tx: Tx,
  { id, connection }: Pick<TunnelRow, 'id' | 'connection'>,
  patch: Partial<Omit<TunnelRow, 'id'>>,
): Promise<boolean> {
  const result = await tx
    .updateTable('tunnels')
    .set(patch)
    .where('id', '=', id)
    .where('connection', connection === null ? 'is' : '=', connection)
    .executeTakeFirst()
  return Number(result.numUpdatedRows) > 0
}

/** @returns whether the tunnel belonged to nobody */
export async function claimTunnel(tx: Tx, id: string, workspaceId: string): Promise<boolean> {
  const result = await tx
    .updateTable('tunnels')
    .set({ workspace_id: workspaceId })
    .where('id', '=', id)
    .where('workspace_id', 'is', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows) > 0
}

/** Counts the connected tunnels of a workspace, apart from one. */
export async function countOthersConnected(
  tx: Tx,
  { id, workspaceId }: { id: string; workspaceId: string },
  now: string,
): Promise<number> {
  const { count } = await tx
    .selectFrom('tunnels')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('id', '!=', id)
    .where('lease_until', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Prolongs the leases of connections. */
export async function prolongConnections(
  tx: Tx,
  connections: readonly string[],
  until: string,
): Promise<void> {
  await tx
    .updateTable('tunnels')
    .set({ lease_until: until })
    .where('connection', 'in', [...connections])
    .execute()
}

/** The tunnels that still have one of these connections. */
export async function listConnected(
  executor: Db | Tx,
  connections: readonly string[],
): Promise<Pick<TunnelRow, 'id' | 'connection'>[]> {
  return await executor
    .selectFrom('tunnels')
    .select(['id', 'connection'])
    .where('connection', 'in', [...connections])
    .execute()
}

export async function deleteUnclaimed(tx: Tx, id: string, connection: string): Promise<void> {
  await tx
    .deleteFrom('tunnels')
    .where('id', '=', id)
    .where('connection', '=', connection)
    .where('workspace_id', 'is', null)
    .execute()
}

/** Deletes the tunnels of a workspace. Returns their ids. */
export async function deleteTunnelsOf(tx: Tx, workspaceId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('tunnels')
    .where('workspace_id', '=', workspaceId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** @returns how many tunnels were deleted that have had no connection since an ISO 8601 time */
export async function deleteOldTunnels(tx: Tx, before: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('tunnels')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('tunnels')
        .select('id')
        .where(({ or, eb }) =>
          or([eb('disconnected_at', '<', before), eb('lease_until', '<', before)]),
        )
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

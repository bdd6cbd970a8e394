import type { Tx } from '../../../platform/db/schema.js'
import { published } from './catalogue-store.js'

/** The tables of what is installed in bots, with the column `installs`. */
type InstallableTable = 'integrations' | 'plugins'

/**
 * Counts an installation that was created in a bot of a workspace, and keeps the integration or plugin from being
 * deleted or made private until the transaction ends.
 * @returns false if the workspace may not use it any more
 */
export async function countInstallation(
  tx: Tx,
  table: InstallableTable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const result = await tx
    .updateTable(table)
    .set((eb) => ({ installs: eb('installs', '+', 1) }))
    .where('id', '=', id)
    .where(({ eb, or }) =>
      or([eb('workspace_id', '=', workspaceId), eb('visibility', 'in', published)]),
    )
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Counts an installation that was removed. */
export async function countRemoval(tx: Tx, table: InstallableTable, id: string): Promise<void> {
  await tx
    .updateTable(table)
    .set((eb) => ({ installs: eb('installs', '-', 1) }))
    .where('id', '=', id)
    .execute()
}

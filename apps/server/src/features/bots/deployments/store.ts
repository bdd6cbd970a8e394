import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BundlesTable, DeploymentsTable } from './table.js'

export type DeploymentRow = Selectable<DeploymentsTable>

/** Stores a bundle unless the workspace has it. */
export async function insertBundle(tx: Tx, row: Insertable<BundlesTable>): Promise<void> {
  await tx
    .insertInto('bundles')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function insertDeployment(tx: Tx, row: Insertable<DeploymentsTable>): Promise<void> {
  await tx.insertInto('deployments').values(row).execute()
}

/** Ends the deployments of an owner that are in force. Returns their ids. */
export async function replaceDeployments(
  tx: Tx,
  owner: Pick<DeploymentRow, 'workspace_id' | 'owner_type' | 'owner_id'>,
  at: string,
): Promise<string[]> {
  const rows = await tx
    .updateTable('deployments')
    .set({ replaced_at: at })
    .where('workspace_id', '=', owner.workspace_id)
    .where('owner_id', '=', owner.owner_id)
    .where('owner_type', '=', owner.owner_type)
    .where('replaced_at', 'is', null)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The code of a deployment of a workspace; undefined if there is no such deployment. */
export async function findCode(
  db: Db,
  workspaceId: string,
  deploymentId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('deployments')
    .innerJoin('bundles', (join) =>
      join
        .onRef('bundles.workspace_id', '=', 'deployments.workspace_id')
        .onRef('bundles.hash', '=', 'deployments.bundle'),
    )
    .select('bundles.code')
    .where('deployments.workspace_id', '=', workspaceId)
    .where('deployments.id', '=', deploymentId)
    .executeTakeFirst()
  return row?.code
}

/** Deletes some deployments that were replaced before a time, and returns how many. */
export async function deleteReplaced(tx: Tx, before: string, limit: number): Promise<number> {
  const old = tx
    .selectFrom('deployments')
    .select('id')
    .where('replaced_at', '<', before)
    .limit(limit)
  const result = await tx.deleteFrom('deployments').where('id', 'in', old).executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Deletes some bundles from before a time that no deployment has, and returns how many. */
export async function deleteUnused(tx: Tx, before: string, limit: number): Promise<number> {
  const unused = await tx
    .selectFrom('bundles')
    .select(['workspace_id', 'hash'])
    .where('created_at', '<', before)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deployments')
            .select('deployments.id')
            .whereRef('deployments.workspace_id', '=', 'bundles.workspace_id')
            .whereRef('deployments.bundle', '=', 'bundles.hash'),
        ),
      ),
    )
    .limit(limit)
    .execute()
  for (const { workspace_id, hash } of unused) {
    await tx
      .deleteFrom('bundles')
      .where('workspace_id', '=', workspace_id)
      .where('hash', '=', hash)
      .execute()
  }
  return unused.length
}

/** Deletes the deployments of a deleted bot or integration, whose workspace is no longer known. */
export async function deleteOfOwner(tx: Tx, ownerId: string): Promise<void> {
  await tx.deleteFrom('deployments').where('owner_id', '=', ownerId).execute()
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('deployments').where('workspace_id', '=', workspaceId).execute()
  await tx.deleteFrom('bundles').where('workspace_id', '=', workspaceId).execute()
}

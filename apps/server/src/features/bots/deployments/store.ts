import type { Insertable, Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BundlesTable, DeploymentsTable, KeptBundlesTable } from './table.js'

export type DeploymentRow = Selectable<DeploymentsTable>

/**
 * Stores a bundle, or gives the equal one of the workspace a new time. That also locks its row, so that it is not
 * deleted as unused before the transaction that uses it again has committed.
 */
export async function insertBundle(tx: Tx, row: Insertable<BundlesTable>): Promise<void> {
  await tx
    .insertInto('bundles')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'hash']).doUpdateSet({ created_at: row.created_at }),
    )
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

/** Locks the row of a deployment that is in force until the transaction ends. Returns whether it is in force. */
export async function lockInForce(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const query = tx
    .selectFrom('deployments')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('replaced_at', 'is', null)
  return (await dialectOf(tx).lockRows(query).executeTakeFirst()) !== undefined
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

/** Hash of the bundle of a deployment of a workspace; undefined if there is no such deployment. */
export async function findBundleOf(
  executor: Db | Tx,
  workspaceId: string,
  deploymentId: string,
): Promise<string | undefined> {
  const row = await executor
    .selectFrom('deployments')
    .select('bundle')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', deploymentId)
    .executeTakeFirst()
  return row?.bundle
}

/** The code of a bundle of a workspace; undefined if it is gone. */
export async function findBundle(
  executor: Db | Tx,
  workspaceId: string,
  hash: string,
): Promise<string | undefined> {
  const row = await executor
    .selectFrom('bundles')
    .select('code')
    .where('workspace_id', '=', workspaceId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row?.code
}

/** Keeps a bundle until all of its keepers are deleted. */
export async function insertKeeper(tx: Tx, row: Insertable<KeptBundlesTable>): Promise<void> {
  await tx.insertInto('kept_bundles').values(row).execute()
}

export async function deleteKeepers(tx: Tx, keepers: readonly string[]): Promise<void> {
  if (keepers.length === 0) return
  await tx.deleteFrom('kept_bundles').where('keeper', 'in', keepers).execute()
}

/** Deletes at most `limit` deployments that were replaced before an ISO 8601 time. @returns how many */
export async function deleteReplaced(tx: Tx, before: string, limit: number): Promise<number> {
  const old = tx
    .selectFrom('deployments')
    .select('id')
    .where('replaced_at', '<', before)
    .limit(limit)
  const result = await tx.deleteFrom('deployments').where('id', 'in', old).executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Deletes at most `limit` bundles from before an ISO 8601 time that nothing refers to. @returns how many */
export async function deleteUnused(tx: Tx, before: string, limit: number): Promise<number> {
  const unused = await tx
    .selectFrom('bundles')
    .select(['workspace_id', 'hash'])
    .where('created_at', '<', before)
    .where(({ and, not, exists, selectFrom }) =>
      and([
        not(
          exists(
            selectFrom('deployments')
              .select('deployments.id')
              .whereRef('deployments.workspace_id', '=', 'bundles.workspace_id')
              .whereRef('deployments.bundle', '=', 'bundles.hash'),
          ),
        ),
        not(
          exists(
            selectFrom('kept_bundles')
              .select('kept_bundles.keeper')
              .whereRef('kept_bundles.workspace_id', '=', 'bundles.workspace_id')
              .whereRef('kept_bundles.hash', '=', 'bundles.hash'),
          ),
        ),
      ]),
    )
    .limit(limit)
    .execute()
  for (const { workspace_id, hash } of unused) {
    await tx
      .deleteFrom('bundles')
      .where('workspace_id', '=', workspace_id)
      .where('hash', '=', hash)
      // One that was deployed again meanwhile has a new time.
      .where('created_at', '<', before)
      .execute()
  }
  return unused.length
}

/** Moves the deployments of a bot to another workspace, which has copies of their bundles. */
export async function moveDeployments(tx: Tx, botId: string, to: string): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({ workspace_id: to })
    .where('owner_type', '=', 'bot')
    .where('owner_id', '=', botId)
    .execute()
}

/** Moves the keepers of bundles to another workspace, which has copies of the bundles. */
export async function moveKeepers(tx: Tx, keepers: readonly string[], to: string): Promise<void> {
  if (keepers.length === 0) return
  await tx
    .updateTable('kept_bundles')
    .set({ workspace_id: to })
    .where('keeper', 'in', keepers)
    .execute()
}

/**
 * Copies a bundle to another workspace, or gives its equal one a new time, so that it is not deleted as unused before it is
 * used. The sweep deletes what the former workspace does not need any more.
 */
export async function copyBundle(
  tx: Tx,
  hash: string,
  { from, to }: { from: string; to: string },
  now: string,
): Promise<void> {
  const renewed = await tx
    .updateTable('bundles')
    .set({ created_at: now })
    .where('workspace_id', '=', to)
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (renewed.numUpdatedRows > 0n) return
  await tx
    .insertInto('bundles')
    .columns(['workspace_id', 'hash', 'code', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('bundles')
        .select(({ val }) => [
          val(to).as('workspace_id'),
          'hash',
          'code',
          val(now).as('created_at'),
        ])
        .where('workspace_id', '=', from)
        .where('hash', '=', hash),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'hash']).doNothing())
    .execute()
}

/** The bundles of the deployments of a bot. */
export async function listBundlesOf(tx: Tx, botId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('deployments')
    .select('bundle')
    .distinct()
    .where('owner_type', '=', 'bot')
    .where('owner_id', '=', botId)
    .execute()
  return rows.map(({ bundle }) => bundle)
}

/** Deletes the deployments of a deleted bot or integration, whose workspace is no longer known. */
export async function deleteOfOwner(tx: Tx, ownerId: string): Promise<void> {
  await tx.deleteFrom('deployments').where('owner_id', '=', ownerId).execute()
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('deployments').where('workspace_id', '=', workspaceId).execute()
  await tx.deleteFrom('kept_bundles').where('workspace_id', '=', workspaceId).execute()
  await tx.deleteFrom('bundles').where('workspace_id', '=', workspaceId).execute()
}

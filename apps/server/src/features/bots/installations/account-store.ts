import type { Db, Tx } from '../../../platform/db/schema.js'
import type { InstallationRow } from './store.js'

/** Maximum number of installations that are considered to have the same account. */
const maxHolders = 100

/**
 * The installations that have an account and are switched on, among those of the given versions, the first one first. Those
 * whose account was reported to an earlier server, which did not ask for the key of the integration, come last.
 */
export async function listInstallationsOfAccount(
  executor: Db | Tx,
  integrationIds: readonly string[],
  identifier: string,
): Promise<InstallationRow[]> {
  if (integrationIds.length === 0) return []
  return await executor
    .selectFrom('installations')
    .selectAll()
    .where('identifier', '=', identifier)
    .where('integration_id', 'in', [...integrationIds])
    .where('enabled', '=', 1)
    .orderBy('account_is_proven', 'desc')
    .orderBy('identified_at')
    .orderBy('created_at')
    .orderBy('bot_id')
    .limit(maxHolders)
    .execute()
}

/**
 * The installation that has an account, among those of the given versions of an integration. Accounts of a workspace
 * stay there: whoever reports the same one later, elsewhere, does not take it over. In the same workspace the newest
 * report counts.
 */
export async function findInstallationOfAccount(
  db: Db,
  integrationIds: readonly string[],
  identifier: string,
): Promise<InstallationRow | undefined> {
  const rows = await listInstallationsOfAccount(db, integrationIds, identifier)
  const first = rows[0]
  return rows.findLast(
    (row) =>
      row.workspace_id === first?.workspace_id && row.account_is_proven === first.account_is_proven,
  )
}

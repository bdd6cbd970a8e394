import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import { type InstallationRow, isWaiting, patchInstallation } from './store.js'

/** Most installations that are considered to have the same account. */
const mostHolders = 100

/**
 * Stores the account of an installation, as its integration reports it. One whose registration failed, or waits for the
 * account, is registered again.
 */
export async function setAccount(
  tx: Tx,
  { clock, domainEvents }: { clock: Clock; domainEvents: EventDispatcher },
  row: InstallationRow,
  identifier: string | null,
): Promise<void> {
  if (identifier === row.identifier) return
  const now = isoTime(clock.now())
  const account = { identifier, identified_at: identifier === null ? null : now }
  const { bot_id: botId, alias } = row
  if (identifier === null || !wantsRegistration(row)) {
    return await patchInstallation(tx, botId, alias, account)
  }
  // A registration that is under way belongs to the state before: its result does not count any more.
  const renewed = { status: 'registration_pending', status_reason: null, updated_at: now } as const
  const after = { ...row, ...account, ...renewed }
  await patchInstallation(tx, botId, alias, { ...account, ...renewed })
  await domainEvents.raise(tx, 'installations.changed', {
    botId,
    changes: [{ before: row, after }],
  })
}

/** Whether its registration failed, or waits; a registration under way, which may report the account, does not. */
function wantsRegistration(row: InstallationRow): boolean {
  return row.enabled === 1 && (row.status === 'registration_failed' || isWaiting(row))
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
  if (integrationIds.length === 0) return undefined
  const rows = await db
    .selectFrom('installations')
    .selectAll()
    .where('identifier', '=', identifier)
    .where('integration_id', 'in', [...integrationIds])
    .where('enabled', '=', 1)
    .orderBy('identified_at')
    .orderBy('created_at')
    .orderBy('bot_id')
    .limit(mostHolders)
    .execute()
  const owner = rows[0]?.workspace_id
  return rows.findLast(({ workspace_id }) => workspace_id === owner)
}

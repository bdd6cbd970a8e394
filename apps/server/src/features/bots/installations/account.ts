import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import { type InstallationRow, isWaiting, patchInstallation } from './store.js'

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

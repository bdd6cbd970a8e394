import { type Clock, isoTime } from '../../../platform/clock.js'
import { encodeBoolean } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import { type InstallationRow, isWaiting, patchInstallation } from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** It was connected to an account, or has none any more. */
    'installation.identified': { before: InstallationRow; after: InstallationRow }
  }
}

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
  const isProven = identifier !== null
  if (identifier === row.identifier && encodeBoolean(isProven) === row.account_is_proven) return
  const now = isoTime(clock.now())
  const account = {
    identifier,
    identified_at: isProven ? now : null,
    account_is_proven: encodeBoolean(isProven),
    account_served_elsewhere: 0,
  }
  const { bot_id: botId, alias } = row
  if (identifier === null || !wantsRegistration(row)) {
    await patchInstallation(tx, botId, alias, account)
    const after = { ...row, ...account }
    await domainEvents.raise(tx, 'installation.identified', { before: row, after })
    return
  }
  // A registration that is under way belongs to the state before: its result does not count any more.
  const renewed = { status: 'registration_pending', status_reason: null, updated_at: now } as const
  const after = { ...row, ...account, ...renewed }
  await patchInstallation(tx, botId, alias, { ...account, ...renewed })
  await domainEvents.raise(tx, 'installations.changed', {
    botId,
    changes: [{ before: row, after }],
  })
  await domainEvents.raise(tx, 'installation.identified', { before: row, after })
}

/** Whether its registration failed, or waits; a registration under way, which may report the account, does not. */
function wantsRegistration(row: InstallationRow): boolean {
  return row.enabled === 1 && (row.status === 'registration_failed' || isWaiting(row))
}

const servedElsewhere =
  'Another workspace of this server connected this account first: requests at the shared address of the integration go there until it lets go of the account.'

/** The fault of an installation in words for people; null if it has none. */
export function statusReasonOf(
  row: Pick<InstallationRow, 'enabled' | 'status_reason' | 'account_served_elsewhere'>,
): string | null {
  if (row.status_reason !== null) return row.status_reason
  return row.enabled === 1 && row.account_served_elsewhere === 1 ? servedElsewhere : null
}

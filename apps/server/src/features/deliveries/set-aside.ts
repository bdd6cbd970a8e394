import type { Tx } from '../../schema.js'
import { setAside } from './claim-store.js'
import type { DueDelivery } from './due-store.js'
import { holdPause } from './receiver-store.js'
import { keyOf } from './room.js'

/** Puts away what waits for paused receivers, unless their pause has just ended. */
export async function setAsidePaused(
  tx: Tx,
  rows: readonly DueDelivery[],
  now: string,
): Promise<void> {
  // In one order, so that two processes do not wait for each other.
  for (const key of [...new Set(rows.map(keyOf))].sort()) {
    const own = rows.filter((row) => keyOf(row) === key)
    const [{ bot_id: botId, integration } = { bot_id: '', integration: '' }] = own
    if (!(await holdPause(tx, { botId, integration }))) continue
    await setAside(
      tx,
      own.map(({ id }) => id),
      now,
    )
  }
}

import type { Tx } from '../../platform/db/schema.js'
import type { DueDelivery } from './due-store.js'
import { holdPause } from './receiver-store.js'
import { keyOf } from './room.js'
import { setAside } from './set-aside-store.js'

/** Puts away what waits for paused receivers, unless their pause has just ended; answers how many. */
export async function setAsidePaused(
  tx: Tx,
  rows: readonly DueDelivery[],
  now: string,
): Promise<number> {
  let moved = 0
  // In one order, so that two processes do not wait for each other.
  for (const key of [...new Set(rows.map(keyOf))].sort()) {
    const own = rows.filter((row) => keyOf(row) === key)
    const [{ bot_id: botId, integration } = { bot_id: '', integration: '' }] = own
    if (!(await holdPause(tx, { botId, integration }))) continue
    moved += await setAside(
      tx,
      own.map(({ id }) => id),
      now,
    )
  }
  return moved
}

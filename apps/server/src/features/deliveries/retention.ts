import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/after-commit.js'
import type { Tx } from '../../platform/db/schema.js'
import { announceDelivery } from './hints.js'
import * as history from './history-store.js'
import { callFirst, leaveLines } from './line-store.js'
import { lineAbout } from './log-lines.js'
import type { SettleDeps } from './settle.js'

interface RetentionDeps extends Pick<SettleDeps, 'onFinished' | 'note'> {
  clock: Clock
  bus: EventBus
  /** Milliseconds that finished deliveries are kept, and that others wait for their receiver. */
  retentionMs: number
}

const rowsAtOnce = 500
const tooOld = 'Given up: it has waited for longer than deliveries are kept.'

/** Some of what has served its time, per call; each answers how much it was. */
export function createRetention({ clock, bus, retentionMs, onFinished, note }: RetentionDeps) {
  const before = () => isoTime(clock.now() - retentionMs)
  return [
    (tx: Tx) => history.deleteOld(tx, before(), rowsAtOnce),

    /** Gives up what waits for a receiver that does not come back. */
    async (tx: Tx) => {
      const now = isoTime(clock.now())
      const stale = await history.listStale(tx, before(), rowsAtOnce)
      const lines: string[] = []
      for (const row of stale) {
        if (!(await history.expire(tx, row.id, tooOld, now))) continue
        await onFinished(tx, [row], tooOld)
        await note(tx, await lineAbout(tx, row, 'error', tooOld))
        if (row.order_key !== null) lines.push(row.order_key)
        const receiver = { botId: row.bot_id, integration: row.integration }
        afterCommit(tx, () => announceDelivery(bus, receiver))
      }
      await callFirst(tx, await leaveLines(tx, lines), now)
      return stale.length
    },
  ]
}

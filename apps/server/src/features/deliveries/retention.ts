import type { DeliveryKind, NeededSubjects } from '../../domain/deliveries.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { Sweep } from '../feature.js'
import * as history from './history-store.js'
import { announceDelivery } from './outbox.js'
import { type EndingDeps, endDeliveries } from './settle.js'
import type { DeliveryRow } from './store.js'

/** A lower slice whose rows are the subjects of deliveries. */
interface SubjectOwner {
  /** Deletes rows from before an ISO 8601 time, at most `limit`, except for `needed`; returns how many. */
  trim(tx: Tx, before: string, limit: number, needed: NeededSubjects): Promise<number>
}

interface RetentionDeps extends EndingDeps {
  clock: Clock
  bus: EventBus
  /**
   * Milliseconds for which finished deliveries are kept, and pending ones wait for their receiver.
   */
  retentionMs: number
}

const rowsAtOnce = 500
const tooOld = 'Given up: it has waited for longer than deliveries are kept.'
/** Milliseconds for which events and changes are kept at least: 30 days. */
const subjectRetentionMs = 30 * 24 * 60 * 60 * 1000

/** Retention of deliveries. */
export function createRetention(deps: RetentionDeps): Sweep[] {
  const { clock, bus, retentionMs } = deps
  const before = () => isoTime(clock.now() - retentionMs)
  return [
    (tx) => history.deleteOld(tx, before(), rowsAtOnce),

    /** Gives up deliveries to receivers that do not come back. */
    async (tx) => {
      const now = isoTime(clock.now())
      const stale = await history.listStale(tx, before(), rowsAtOnce)
      const expired: DeliveryRow[] = []
      for (const row of stale) {
        if (await history.expire(tx, row.id, tooOld, now)) expired.push(row)
      }
      const line = { level: 'error', text: tooOld } as const
      await endDeliveries(
        deps,
        tx,
        expired.map((row) => ({ row, failure: tooOld, line })),
        now,
      )
      for (const row of expired) afterCommit(tx, () => announceDelivery(bus, row))
      return stale.length
    },
  ]
}

/**
 * Retention of the subjects of deliveries, which are kept while a delivery of them may be sent or
 * replayed. Runs after the retention of deliveries.
 */
export function createSubjectRetention({
  clock,
  retentionMs,
  events,
  changes,
}: Pick<RetentionDeps, 'clock' | 'retentionMs'> & {
  events: SubjectOwner
  changes: SubjectOwner
}): Sweep[] {
  const trim =
    (owner: SubjectOwner, kinds: readonly DeliveryKind[]): Sweep =>
    (tx) => {
      const before = isoTime(clock.now() - Math.max(subjectRetentionMs, retentionMs))
      return owner.trim(tx, before, rowsAtOnce, history.subjectsOfDeliveries(tx, kinds, before))
    }
  return [
    trim(events, ['event_received']),
    trim(changes, ['message_updated', 'conversation_updated']),
  ]
}

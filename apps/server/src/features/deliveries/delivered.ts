import { type Batches, createBatches } from '../../platform/batches.js'
import { isoTime } from '../../platform/clock.js'
import type { CallResult } from '../calls/requests/index.js'
import { attemptOf, keepAttempts } from './attempt-store.js'
import { endDelivered } from './claim-end-store.js'
import { callFirst, claimNext, leaveLines, type NextClaim } from './line-store.js'
import type { SettleDeps } from './settle.js'
import { type DeliveryRow, refOf } from './store.js'

/** A delivery that its receiver has taken. */
interface Taken {
  row: DeliveryRow
  result: CallResult
  nextClaim: NextClaim | undefined
}

/** Deliveries that are settled in one transaction. */
const mostAtOnce = 64

/**
 * Stores what receivers have taken, many in one transaction and each kind of change in one statement:
 * what goes well is most of what happens. Answers the next delivery of each line, claimed where that
 * was wanted.
 */
export function createDelivered({
  run,
  clock,
  domainEvents,
}: Pick<SettleDeps, 'run' | 'clock' | 'domainEvents'>): Batches<Taken, DeliveryRow | undefined> {
  return createBatches(mostAtOnce, async (taken) => {
    const { ended, next } = await run(async (tx) => {
      const now = isoTime(clock.now())
      const ended = await endDelivered(
        tx,
        taken.map(({ row }) => row),
        now,
      )
      // Others have claimed what is missing here, and what they learn counts.
      const own = taken.filter(({ row }) => ended.has(row.id))
      await keepAttempts(
        tx,
        own.map(({ row, result }) => attemptOf(row, result)),
      )
      await domainEvents.raise(tx, 'delivery.ended', {
        deliveries: own.map(({ row }) => refOf(row)),
        failure: null,
      })
      const lines = own.flatMap(({ row }) => (row.order_key === null ? [] : [row.order_key]))
      const claims = new Map(own.map(({ row, nextClaim }) => [row.order_key, nextClaim]))
      const waiting = await leaveLines(tx, lines)
      const [claim] = own.flatMap(({ nextClaim }) => nextClaim ?? [])
      await callFirst(
        tx,
        waiting.filter((line) => claims.get(line) === undefined),
        now,
      )
      if (claim === undefined) return { ended, next: [] }
      const next = await claimNext(
        tx,
        waiting.filter((line) => claims.get(line) !== undefined),
        claim,
      )
      return { ended, next }
    })
    const nextOf = new Map(next.map((row) => [row.order_key, row]))
    // Who has lost its claim does not go on, also when the one behind it is of the same batch.
    return taken.map(({ row }) => (ended.has(row.id) ? nextOf.get(row.order_key) : undefined))
  })
}

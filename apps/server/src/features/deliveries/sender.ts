import { createBatches } from '../../platform/batches.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { isoTime } from '../../platform/clock.js'
import type { Db } from '../../platform/db/schema.js'
import { HolderStoppedError, LeaseLostError } from '../../platform/leases/leases.js'
import { type CallDeps, callReceiver } from '../calls/requests/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { DeliveryBodies, DeliveryBody } from './bodies.js'
import type { NextClaim } from './ordering-store.js'
import { announceDelivery } from './outbox.js'
import type { Settle } from './settle.js'
import { type DeliveryRow, receiverIn, receiverKeyOf } from './store.js'

/** A delivery in flight. */
export interface Sending {
  row: DeliveryRow
  abort: AbortController
  /** Whether the next one of its queue may be sent right after it. */
  chain: boolean
  /** Whether the last call showed that the receiver is there; undefined if there was none. */
  responded: boolean | undefined
  done: Promise<void>
}

interface SenderDeps extends CallDeps {
  db: Db
  bus: EventBus
  bodies: DeliveryBodies
  targets: Pick<Targets, 'of'>
  settle: Settle
  /** What is in flight, by the id of the delivery. */
  sending: Map<string, Sending>
  /** Keys of receivers that have failed lately. */
  failing: Set<string>
  /** How the next of a queue is claimed; undefined when nothing more is to be sent. */
  nextClaim: () => NextClaim | undefined
  /** Whether no call may begin any more, because the time of a stop is over. */
  isOver: () => boolean
  /** Called when a receiver was paused. */
  onPaused: () => void
}

/** Deliveries of one queue in a row before others get the place. */
const maxChain = 20
/** Bodies that are read together. */
const maxBodies = 64

/** Sends claimed deliveries: builds the body, calls the receiver and settles the result. */
export function createSender(deps: SenderDeps) {
  const { db, bus, targets, settle, sending, failing } = deps
  const bodies = createBatches<DeliveryRow, DeliveryBody | undefined>(maxBodies, async (rows) => {
    const found = await deps.bodies.of(db, rows)
    return rows.map(({ id }) => found.get(id))
  })

  async function bodyOf(row: DeliveryRow): Promise<DeliveryBody | undefined> {
    try {
      return await bodies.add(row)
    } catch {
      // One that cannot be built does not fail the others of its batch.
      return (await deps.bodies.of(db, [row])).get(row.id)
    }
  }

  /** Sends one delivery; returns the next of its queue, if that is claimed already. */
  async function deliver(entry: Sending, mayChain: boolean): Promise<DeliveryRow | undefined> {
    const { row } = entry
    const target = await targets.of(receiverIn(row))
    if (target === undefined) {
      await settle.awaitAddress(row)
      return undefined
    }
    const body = await bodyOf(row)
    if (body === undefined) {
      await settle.cancel(row)
      return undefined
    }
    // A process that stood still for so long may have lost it: another one may be calling already. If
    // none is, this was no attempt, and must not count towards giving the delivery up.
    if (isoTime(deps.clock.now()) >= (row.next_attempt_at ?? '')) {
      await settle.release(row, { called: false })
      return undefined
    }
    // A stop has already aborted what it knew to be in flight.
    if (deps.isOver()) {
      await settle.release(row, { called: false })
      announceDelivery(bus, receiverIn(row))
      return undefined
    }
    try {
      const result = await callReceiver(deps, target, {
        operation: row.kind,
        type: body.type,
        body: body.body,
        headers: { 'x-botstead-delivery': row.id, 'x-botstead-attempt': String(row.attempts) },
        signal: entry.abort.signal,
      })
      const key = receiverKeyOf(row)
      const nextClaim = mayChain && entry.chain ? deps.nextClaim() : undefined
      const settled = await settle.attempt({
        row,
        result,
        wasFailing: failing.has(key),
        nextClaim,
      })
      const isBack = result.verdict.result !== 'retry'
      entry.responded = settled !== undefined && isBack
      if (isBack) failing.delete(key)
      else failing.add(key)
      if (settled?.pausedNow) deps.onPaused()
      return settled?.next
    } catch (error) {
      if (error instanceof LeaseLostError) return undefined
      if (!(error instanceof HolderStoppedError)) throw error
      await settle.release(row, { called: true })
      announceDelivery(bus, receiverIn(row))
      return undefined
    }
  }

  /** Sends a delivery and, while it goes well, those behind it in its queue. */
  return async (entry: Sending): Promise<void> => {
    for (let length = 1; ; length++) {
      const next = await deliver(entry, length < maxChain)
      if (next === undefined) return
      sending.delete(entry.row.id)
      entry.row = next
      // A heartbeat during the settling did not find the claim of the last one any more.
      if (entry.abort.signal.reason instanceof LeaseLostError) entry.abort = new AbortController()
      sending.set(next.id, entry)
    }
  }
}

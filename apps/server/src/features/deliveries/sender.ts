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
  /** Whether the next delivery of its queue may be sent right after it. */
  chain: boolean
  /** Whether the receiver responded to the last call; undefined without a call. */
  responded: boolean | undefined
  done: Promise<void>
}

interface SenderDeps extends CallDeps {
  db: Db
  bus: EventBus
  bodies: DeliveryBodies
  targets: Pick<Targets, 'of'>
  settle: Settle
  /** Deliveries in flight, by id. */
  sending: Map<string, Sending>
  /** Keys of receivers that have failed lately. */
  failing: Set<string>
  /** Owner and lease for the next delivery of a queue; undefined when no more are to be sent. */
  nextClaim: () => NextClaim | undefined
  /** Whether no call may begin because the time to stop is over. */
  isOver: () => boolean
  /** Called when a receiver was paused. */
  onPaused: () => void
}

/** Deliveries of one queue in a row before other queues get a turn. */
const maxChain = 20
/** Most bodies in one batch. */
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
      // A body that cannot be built does not fail the others of its batch.
      return (await deps.bodies.of(db, [row])).get(row.id)
    }
  }

  /** Sends one delivery; returns the next of its queue if it was claimed. */
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
    // A process that stalled for so long may have lost its claim to another one that is already
    // calling. If it has not, this was not an attempt, and must not count towards giving the
    // delivery up.
    if (isoTime(deps.clock.now()) >= (row.next_attempt_at ?? '')) {
      await settle.release(row, { called: false })
      return undefined
    }
    // A stop has already aborted the deliveries that it saw in flight.
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

  /** Sends a delivery and, while they succeed, those behind it in its queue. */
  return async (entry: Sending): Promise<void> => {
    for (let length = 1; ; length++) {
      const next = await deliver(entry, length < maxChain)
      if (next === undefined) return
      sending.delete(entry.row.id)
      entry.row = next
      // A heartbeat during settling no longer found the claim of the last delivery.
      if (entry.abort.signal.reason instanceof LeaseLostError) entry.abort = new AbortController()
      sending.set(next.id, entry)
    }
  }
}

import { createBatches } from '../../platform/batches.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { isoTime } from '../../platform/clock.js'
import type { Db } from '../../platform/db/schema.js'
import type { CallDeps } from '../calls/requests/index.js'
import { callReceiver } from '../calls/requests/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { DeliveryBodies, DeliveryBody } from './bodies.js'
import { announceDelivery } from './hints.js'
import type { NextClaim } from './line-store.js'
import { keyOf } from './room.js'
import type { Settle } from './settle.js'
import type { DeliveryRow } from './store.js'

/** Ends a call whose delivery another process has taken up. */
export class ClaimLostError extends Error {}
/** Ends a call because the server stops. */
export class StoppedError extends Error {}

/** A delivery on its way. */
export interface Sending {
  row: DeliveryRow
  abort: AbortController
  /** Whether what stands behind it may be sent right after it. */
  chain: boolean
  /** Whether the last call showed that the receiver is there; undefined if there was none. */
  answered: boolean | undefined
  done: Promise<void>
}

interface SenderDeps extends CallDeps {
  db: Db
  bus: EventBus
  bodies: DeliveryBodies
  targets: Targets
  settle: Settle
  /** What is on the way, by the id of the delivery. */
  sending: Map<string, Sending>
  /** Keys of receivers that have failed lately. */
  failing: Set<string>
  /** How the next of a line is claimed; undefined when nothing more is to be sent. */
  nextClaim: () => NextClaim | undefined
  /** Whether nothing is to be called any more, because the time for it is over. */
  isOver: () => boolean
  /** Told when a receiver was paused. */
  onPaused: () => void
}

/** Deliveries of one line in a row before others get the place. */
const longestChain = 20
/** Bodies that are read together. */
const bodiesAtOnce = 64

/** Sends claimed deliveries: reads what they say, calls the receiver and settles what came of it. */
export function createSender(deps: SenderDeps) {
  const { db, bus, targets, settle, sending, failing } = deps
  const bodies = createBatches<DeliveryRow, DeliveryBody | undefined>(
    bodiesAtOnce,
    async (rows) => {
      const found = await deps.bodies.of(db, rows)
      return rows.map(({ id }) => found.get(id))
    },
  )

  async function bodyOf(row: DeliveryRow): Promise<DeliveryBody | undefined> {
    try {
      return await bodies.add(row)
    } catch {
      // One that cannot be read does not take the others along.
      return (await deps.bodies.of(db, [row])).get(row.id)
    }
  }

  async function deliver(entry: Sending, chain: boolean): Promise<DeliveryRow | undefined> {
    const { row } = entry
    const receiver = { botId: row.bot_id, integration: row.integration }
    const target = await targets.of(receiver)
    if (target === undefined) {
      await settle.park(row)
      return undefined
    }
    const told = await bodyOf(row)
    if (told === undefined) {
      await settle.cancel(row)
      return undefined
    }
    // A process that stood still for so long may have lost it: another one may be calling already. If
    // none is, this was no attempt; it would be one of those after which the delivery is given up.
    if (isoTime(deps.clock.now()) >= (row.next_attempt_at ?? '')) {
      await settle.release(row, { called: false })
      return undefined
    }
    // Who stops has already broken off what it knew to be on the way.
    if (deps.isOver()) {
      await settle.release(row, { called: false })
      announceDelivery(bus, receiver)
      return undefined
    }
    try {
      const result = await callReceiver(deps, target, {
        operation: row.kind,
        type: told.type,
        body: told.body,
        headers: { 'x-botstead-delivery': row.id, 'x-botstead-attempt': String(row.attempts) },
        signal: entry.abort.signal,
      })
      const key = keyOf(row)
      const nextClaim = chain && entry.chain ? deps.nextClaim() : undefined
      const isPlain = result.verdict.result === 'delivered' && !failing.has(key)
      const settled = isPlain
        ? await settle.delivered(row, result, nextClaim)
        : await settle.attempt(row, result, failing.has(key), nextClaim)
      entry.answered = settled !== undefined && result.verdict.result !== 'retry'
      if (result.verdict.result === 'retry') failing.add(key)
      else failing.delete(key)
      if (settled?.pausedNow) deps.onPaused()
      return settled?.next
    } catch (error) {
      if (error instanceof ClaimLostError) return undefined
      if (!(error instanceof StoppedError)) throw error
      await settle.release(row, { called: true })
      announceDelivery(bus, receiver)
      return undefined
    }
  }

  /** Sends a delivery and, while it goes well, those that stand behind it. */
  return async (entry: Sending): Promise<void> => {
    for (let length = 1; ; length++) {
      const next = await deliver(entry, length < longestChain)
      if (next === undefined) return
      sending.delete(entry.row.id)
      entry.row = next
      // Whoever looked for the claim of the last one while it was settled did not find it any more.
      if (entry.abort.signal.reason instanceof ClaimLostError) entry.abort = new AbortController()
      sending.set(next.id, entry)
    }
  }
}

import { receiverKey, receiverOf } from '../../domain/deliveries.js'
import type { Db } from '../../platform/db/schema.js'
import { listReady, listReadyOf, listReadyReceivers, type ReadyDelivery } from './claim-store.js'
import { type DeliveryRow, receiverKeyOf } from './store.js'

/** Rows that are read for one claim. */
const maxRows = 500

/** Scope of a look: all receivers, or those with these keys. */
export type ReadyScope = 'everything' | ReadonlySet<string>

/** Due deliveries within the concurrency of each receiver. */
export interface ReadyDeliveries {
  due: ReadyDelivery[]
  /** Whether there may be more after these are claimed. */
  more: boolean
}

/**
 * Finds due deliveries without reading the backlog of saturated receivers: it can be long, and
 * would be read again after every delivery.
 */
export function createFindReady(db: Db, concurrency: ReceiverConcurrency) {
  return async (scope: ReadyScope, now: string, free: number): Promise<ReadyDeliveries> => {
    const due = new Map<string, ReadyDelivery>()
    const left = new Map<string, number>()

    function add(rows: readonly ReadyDelivery[]): void {
      for (const row of rows) {
        const key = receiverKeyOf(row)
        const places = left.get(key) ?? concurrency.freeAt(key)
        if (places <= 0 || due.has(row.id)) continue
        left.set(key, places - 1)
        due.set(row.id, row)
      }
    }

    async function lookAt(key: string): Promise<void> {
      const places = Math.min(concurrency.freeAt(key), free)
      if (places > 0) add(await listReadyOf(db, receiverOf(key), now, places))
    }

    if (scope !== 'everything') {
      for (const key of scope) await lookAt(key)
      return { due: [...due.values()], more: false }
    }
    const limit = Math.min(free * 2, maxRows)
    const rows = await listReady(db, now, limit)
    add(rows)
    // Receivers behind the backlog of others have not been read yet.
    if (rows.length === limit && due.size < free) {
      for (const receiver of await listReadyReceivers(db, now)) {
        if (due.size >= free) break
        await lookAt(receiverKey(receiver))
      }
    }
    return { due: [...due.values()], more: rows.length === limit && due.size > 0 }
  }
}

export type ReceiverConcurrency = ReturnType<typeof createReceiverConcurrency>

type Addressed = Pick<DeliveryRow, 'bot_id' | 'integration'>

/** Counts the deliveries in flight to each receiver, so that none uses the whole concurrency. */
export function createReceiverConcurrency(perReceiver: number) {
  const inFlight = new Map<string, number>()

  /** How many more deliveries may be sent to a receiver now. */
  function freeAt(key: string): number {
    return perReceiver - (inFlight.get(key) ?? 0)
  }

  return {
    freeAt,

    /** Whether anything is in flight to a receiver. */
    isBusy: (key: string) => inFlight.has(key),

    begin(row: Addressed): void {
      const key = receiverKeyOf(row)
      inFlight.set(key, (inFlight.get(key) ?? 0) + 1)
    },

    end(row: Addressed): void {
      const key = receiverKeyOf(row)
      const left = (inFlight.get(key) ?? 1) - 1
      if (left > 0) inFlight.set(key, left)
      else inFlight.delete(key)
    },

    /** Chooses due deliveries within the concurrency of their receivers, at most `free`. */
    choose(due: readonly ReadyDelivery[], free: number): ReadyDelivery[] {
      const left = new Map<string, number>()
      const chosen: ReadyDelivery[] = []
      for (const row of due) {
        if (chosen.length === free) break
        const key = receiverKeyOf(row)
        const places = left.get(key) ?? freeAt(key)
        if (places <= 0) continue
        left.set(key, places - 1)
        chosen.push(row)
      }
      return chosen
    },
  }
}

import { receiverKey, receiverOf } from '../../domain/deliveries.js'
import type { Db } from '../../platform/db/schema.js'
import * as claims from './claim-store.js'
import type { InFlight } from './in-flight.js'
import { receiverKeyOf } from './store.js'

/** Scope of a look: all receivers, or those with these keys. */
export type Scope = 'everything' | ReadonlySet<string>

/** Rows that are read for one claim. */
const maxRows = 500

/** Finds deliveries that may be sent now, within the limits of what is in flight. */
interface ReadySearch {
  /**
   * Does not read the backlog of saturated receivers, which can be long and would be read again after every
   * delivery.
   * @param now ISO 8601 time
   * @returns also whether there may be more after these are claimed
   */
  find(
    requested: Scope,
    now: string,
  ): Promise<{ found: readonly claims.ReadyDelivery[]; more: boolean }>
  /**
   * The scope to search, after a call to this receiver ended, for deliveries that were not claimed for lack of room;
   * undefined if there are none.
   */
  unclaimed(receiver: string): Scope | undefined
  /** Called when nothing is in flight to a receiver any more. */
  forget(receiver: string): void
}

/** Creates a search that remembers the places at which ready deliveries were left. */
export function createReadySearch(db: Db, inFlight: InFlight): ReadySearch {
  /** Whether deliveries may be left because the concurrency was exhausted. */
  let saturated = false
  /** Keys of receivers that had more ready deliveries than could be sent. */
  const backlogged = new Set<string>()

  return {
    async find(requested, now) {
      const free = inFlight.room()
      if (requested === 'everything') saturated = false
      if (free <= 0) {
        saturated = true
        return { found: [], more: false }
      }
      const sent = new Set(Array.from(inFlight.entries, ({ row }) => row.id))
      const found = new Map<string, claims.ReadyDelivery>()
      const taken = new Map<string, number>()
      const freeAt = (receiver: string) =>
        Math.min(inFlight.roomAt(receiver) - (taken.get(receiver) ?? 0), free - found.size)

      function add(rows: readonly claims.ReadyDelivery[]): void {
        for (const row of rows) {
          const receiver = receiverKeyOf(row)
          // The lease of one that is sent may have expired.
          if (found.has(row.id) || sent.has(row.id)) continue
          if (freeAt(receiver) <= 0) backlogged.add(receiver)
          else {
            taken.set(receiver, (taken.get(receiver) ?? 0) + 1)
            found.set(row.id, row)
          }
        }
      }

      let receivers = requested === 'everything' ? [] : [...requested].map(receiverOf)
      let more = false
      if (requested === 'everything') {
        const limit = Math.min(free * 2, maxRows)
        const rows = await claims.listReady(db, { now, limit })
        add(rows)
        more = rows.length === limit
        // Receivers behind the backlog of others have not been read yet.
        if (more && found.size < free) receivers = await claims.listReadyReceivers(db, now)
      }
      for (const receiver of receivers) {
        const key = receiverKey(receiver)
        const limit = freeAt(key)
        if (limit <= 0) continue
        const rows = await claims.listReadyOf(db, { ...receiver, now, limit })
        if (rows.length === limit) backlogged.add(key)
        else backlogged.delete(key)
        add(rows)
      }
      if (found.size === free) saturated = true
      return { found: [...found.values()], more: more && found.size > 0 }
    },

    unclaimed(receiver) {
      if (saturated) return 'everything'
      return backlogged.has(receiver) ? new Set([receiver]) : undefined
    },

    forget: (receiver) => backlogged.delete(receiver),
  }
}

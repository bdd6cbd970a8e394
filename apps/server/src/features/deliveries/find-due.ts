import { receiverKey, receiverOf } from '../../domain/receiver.js'
import type { Db } from '../../platform/db/schema.js'
import { type DueDelivery, listDue, listDueOf, listDueReceivers } from './due-store.js'
import { keyOf, type Room } from './room.js'

/** Rows that are looked at for one claim. */
const longestLook = 500

/** What is asked for: everything, or what may have come for some receivers. */
export type Asked = 'everything' | ReadonlySet<string>

/** What is due and may be sent, as far as there is room. */
export interface Found {
  due: DueDelivery[]
  /** Whether there may be more behind it, once it is out of the way. */
  more: boolean
}

/**
 * Looks for what is due without reading what waits behind a receiver that has no room: its backlog can
 * be long, and is looked at again with every delivery that ends.
 */
export function createFindDue(db: Db, room: Room) {
  return async (asked: Asked, now: string, free: number): Promise<Found> => {
    const due = new Map<string, DueDelivery>()
    const left = new Map<string, number>()
    const add = (rows: readonly DueDelivery[]) => {
      for (const row of rows) {
        const key = keyOf(row)
        const places = left.get(key) ?? room.of(key)
        if (places <= 0 || due.has(row.id)) continue
        left.set(key, places - 1)
        due.set(row.id, row)
      }
    }
    const lookAt = async (key: string) => {
      const places = Math.min(room.of(key), free)
      if (places > 0) add(await listDueOf(db, receiverOf(key), now, places))
    }
    if (asked !== 'everything') {
      for (const key of asked) await lookAt(key)
      return { due: [...due.values()], more: false }
    }
    const limit = Math.min(free * 2, longestLook)
    const rows = await listDue(db, now, limit)
    add(rows)
    // Who stands behind the backlog of others is not in sight yet.
    if (rows.length === limit && due.size < free) {
      for (const receiver of await listDueReceivers(db, now)) {
        if (due.size >= free) break
        await lookAt(receiverKey(receiver))
      }
    }
    return { due: [...due.values()], more: rows.length === limit && due.size > 0 }
  }
}

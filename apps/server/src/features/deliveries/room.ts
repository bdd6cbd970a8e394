import { receiverKey } from '../../domain/receiver.js'
import type { DueDelivery } from './due-store.js'
import type { DeliveryRow } from './store.js'

type Addressed = Pick<DeliveryRow, 'bot_id' | 'integration'>

/** What the receiver of a delivery is called. */
export function keyOf(row: Addressed): string {
  return receiverKey({ botId: row.bot_id, integration: row.integration })
}

export type Room = ReturnType<typeof createRoom>

/** How many deliveries are on the way to each receiver, so that none takes all places. */
export function createRoom(perReceiver: number) {
  const taken = new Map<string, number>()
  const placesAt = (key: string) => perReceiver - (taken.get(key) ?? 0)
  return {
    take(row: Addressed): void {
      const key = keyOf(row)
      taken.set(key, (taken.get(key) ?? 0) + 1)
    },

    leave(row: Addressed): void {
      const key = keyOf(row)
      const left = (taken.get(key) ?? 1) - 1
      if (left > 0) taken.set(key, left)
      else taken.delete(key)
    },

    /** How many more can be sent to a receiver now. */
    of: placesAt,

    /** Ids of as many of the due ones as there is room for, `free` at most. */
    choose(due: readonly DueDelivery[], free: number): string[] {
      const room = new Map<string, number>()
      const chosen: string[] = []
      for (const row of due) {
        if (chosen.length === free) break
        const key = keyOf(row)
        const left = room.get(key) ?? placesAt(key)
        if (left <= 0) continue
        room.set(key, left - 1)
        chosen.push(row.id)
      }
      return chosen
    },
  }
}

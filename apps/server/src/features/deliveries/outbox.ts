import type { DeliveryRequest } from '../../domain/delivery-request.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/after-commit.js'
import { beforeCommit } from '../../platform/db/before-commit.js'
import type { Tx } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import { announceDelivery } from './hints.js'
import { inOneOrder, joinLine, lineOf } from './line-store.js'
import { insertDelivery } from './store.js'

/** Where slices put what others have to be told. */
export interface Outbox {
  /**
   * Records a delivery in the transaction of the change it tells of, at the latest when that commits.
   * Answers its id.
   */
  enqueue(tx: Tx, delivery: DeliveryRequest): Promise<string>
}

export interface OutboxDeps {
  clock: Clock
  ids: Ids
  bus: EventBus
}

type NewRow = Parameters<typeof insertDelivery>[1]

/** A delivery that has no place in its line yet. */
interface Joining {
  line: string
  row: NewRow
}

export function createOutbox({ clock, ids, bus }: OutboxDeps): Outbox {
  const joining = new WeakMap<Tx, Joining[]>()

  async function put(tx: Tx, row: NewRow): Promise<void> {
    await insertDelivery(tx, row)
    if (row.next_attempt_at === null) return
    const { bot_id: botId, integration } = row
    afterCommit(tx, () => announceDelivery(bus, { botId, integration }))
  }

  /** Takes all places in one order: whoever settles or replays deliveries locks lines so too. */
  async function joinAll(tx: Tx, waiting: readonly Joining[]): Promise<void> {
    joining.delete(tx)
    for (const { line, row } of inOneOrder(waiting)) {
      const { position, isFirst } = await joinLine(tx, row.bot_id, line)
      await put(tx, { ...row, position, next_attempt_at: isFirst ? row.next_attempt_at : null })
    }
  }

  return {
    async enqueue(tx, { botId, integration = '', kind, subjectId, orderingKey }) {
      const now = isoTime(clock.now())
      // Receivers do not wait for each other.
      const line = orderingKey === undefined ? null : lineOf(botId, integration, orderingKey)
      const row: NewRow = {
        ...{ id: ids.next('delivery'), bot_id: botId, integration, kind, subject_id: subjectId },
        ...{ order_key: line, position: 0, next_attempt_at: now, created_at: now },
      }
      if (line === null) {
        await put(tx, row)
        return row.id
      }
      const waiting = joining.get(tx)
      if (waiting !== undefined) waiting.push({ line, row })
      else {
        const first = [{ line, row }]
        joining.set(tx, first)
        beforeCommit(tx, () => joinAll(tx, first))
      }
      return row.id
    },
  }
}

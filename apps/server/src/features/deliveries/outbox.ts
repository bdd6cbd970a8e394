import { type Clock, isoTime } from '../../platform/clock.js'
import { purge } from '../../platform/db/purge.js'
import { nextSequence } from '../../platform/events/append.js'
import type { Ids } from '../../platform/ids.js'
import type { Run, Tx } from '../../schema.js'
import { type DeliveryRow, deleteSomeDeliveries, insertDelivery } from './store.js'

/** Something that a bot or one of its integrations has to be told. */
export interface NewDelivery {
  botId: string
  /** Alias of the installation that is told; left out when it is the bot. */
  integration?: string
  kind: DeliveryRow['kind']
  /** Id of the event or message; the body is built from it when it is sent. */
  subjectId: string
  /**
   * Deliveries to one receiver with the same key are made in the order of their commits: the id of a
   * conversation, for example. Left out, the delivery waits for no other.
   */
  orderKey?: string | undefined
}

/** Where slices put what others have to be told. */
export interface Outbox {
  /** Records a delivery in the transaction of the change it tells of. Answers its id. */
  enqueue(tx: Tx, delivery: NewDelivery): Promise<string>
  /** Removes the deliveries that a deleted bot left behind. */
  purge(botId: string): Promise<void>
}

export interface OutboxDeps {
  run: Run
  clock: Clock
  ids: Ids
}

export function createOutbox({ run, clock, ids }: OutboxDeps): Outbox {
  return {
    async enqueue(tx, { botId, integration, kind, subjectId, orderKey }) {
      const id = ids.next('delivery')
      // Receivers do not wait for each other.
      const order = orderKey === undefined ? null : `${integration ?? ''}/${orderKey}`
      await insertDelivery(tx, {
        id,
        bot_id: botId,
        integration: integration ?? null,
        kind,
        subject_id: subjectId,
        order_key: order,
        // Counted and not timed: clocks of processes differ, the order of their commits does not.
        position: order === null ? 0 : await nextSequence(tx, `deliveries/${order}`),
        created_at: isoTime(clock.now()),
      })
      return id
    },

    async purge(botId) {
      await purge(run, (tx, limit) => deleteSomeDeliveries(tx, botId, limit))
    },
  }
}

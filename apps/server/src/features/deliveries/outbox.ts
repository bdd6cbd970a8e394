import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/after-commit.js'
import { purge } from '../../platform/db/purge.js'
import type { Ids } from '../../platform/ids.js'
import type { Run, Tx } from '../../schema.js'
import { announceDelivery } from './hints.js'
import { joinLine, lineOf } from './line-store.js'
import { type DeliveryRow, deleteSomeOfBot, insertDelivery } from './store.js'

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
  bus: EventBus
}

export function createOutbox({ run, clock, ids, bus }: OutboxDeps): Outbox {
  return {
    async enqueue(tx, { botId, integration = '', kind, subjectId, orderKey }) {
      const id = ids.next('delivery')
      // Receivers do not wait for each other.
      const line = orderKey === undefined ? null : lineOf(botId, integration, orderKey)
      const place = line === null ? undefined : await joinLine(tx, botId, line)
      const now = isoTime(clock.now())
      const isFirst = place?.isFirst ?? true
      await insertDelivery(tx, {
        id,
        bot_id: botId,
        integration,
        kind,
        subject_id: subjectId,
        order_key: line,
        position: place?.position ?? 0,
        next_attempt_at: isFirst ? now : null,
        created_at: now,
      })
      if (isFirst) afterCommit(tx, () => announceDelivery(bus, { botId, integration }))
      return id
    },

    async purge(botId) {
      await purge(run, (tx, limit) => deleteSomeOfBot(tx, botId, limit))
    },
  }
}

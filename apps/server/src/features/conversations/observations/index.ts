import { type Body, contract } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { route } from '../../../http/mount.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Feature } from '../../feature.js'
import type { EventsService } from '../events/index.js'
import * as store from './store.js'

export { sumCounts } from './store.js'

interface ObservationsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  events: Pick<EventsService, 'requireSubjects' | 'get'>
  /** Maximum bytes of the data. */
  maxPayloadBytes: number
}

/** Milliseconds for which observations are kept: 30 days. Counts are kept forever. */
const retentionMs = 30 * 24 * 60 * 60 * 1000
const rowsAtOnce = 500

/** Counts and values that bots report about themselves. */
export function createObservations(deps: ObservationsDeps): Feature {
  const { db, run, clock, ids, events } = deps

  async function capture(
    actor: BotActor,
    { id, name, data, ...about }: Body<typeof contract.observations.capture>,
  ): Promise<void> {
    const { conversationId, userId, messageId, eventId } = about
    await events.requireSubjects(db, actor, { conversationId, userId, messageId }, 'body')
    if (eventId !== undefined) await events.get(actor, eventId)
    const text = encodePayload({ ...about, data }, deps.maxPayloadBytes, 'data')
    await run((tx) =>
      store.upsertObservation(tx, {
        bot_id: actor.botId,
        id: id ?? ids.next('report'),
        name,
        data: text,
        created_at: isoTime(clock.now()),
      }),
    )
  }

  return {
    name: 'observations',
    routes: [
      route(contract.observations.trackAnalytics, async ({ actor, body: { name, count } }) => {
        const day = isoTime(clock.now()).slice(0, 10)
        await run((tx) => store.addCount(tx, { bot_id: actor.botId, day, name, count }))
        return {}
      }),

      route(contract.observations.capture, async ({ actor, body }) => {
        await capture(actor, body)
        return {}
      }),
    ],
    sweeps: [
      (tx) => store.deleteOldObservations(tx, isoTime(clock.now() - retentionMs), rowsAtOnce),
    ],
    purge: (botId) => purge(run, (tx, limit) => store.deleteSomeOf(tx, botId, limit)),
  }
}

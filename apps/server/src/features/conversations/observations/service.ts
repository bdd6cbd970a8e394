import type { Body, contract } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { EventsService, Subjects } from '../events/index.js'
import * as store from './store.js'

type Count = Body<typeof contract.observations.trackAnalytics>
type Observation = Body<typeof contract.observations.capture>

export interface ObservationsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  events: Pick<EventsService, 'requireSubjects' | 'get'>
  /** Most bytes of the data. */
  maxPayloadBytes: number
}

export type ObservationsService = ReturnType<typeof createObservationsService>

export function createObservationsService(deps: ObservationsDeps) {
  const { db, run, clock, ids, events } = deps
  /** Adds to today's count of a bot under a name. */
  async function count({ botId }: BotActor, { name, count }: Count): Promise<void> {
    const day = isoTime(clock.now()).slice(0, 10)
    await run((tx) => store.addCount(tx, { bot_id: botId, day, name, count }))
  }

  /** Stores an observation of a bot. */
  async function capture(
    actor: BotActor,
    { id, name, data, ...about }: Observation,
  ): Promise<void> {
    const { conversationId, userId, messageId, eventId } = about
    const subjects: Subjects = { conversationId, userId, messageId }
    await events.requireSubjects(db, actor, subjects, 'body')
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

  /** Deletes observations made before an ISO 8601 time, at most `limit`. Returns how many. */
  async function trim(tx: Tx, before: string, limit: number): Promise<number> {
    return await store.deleteOldObservations(tx, before, limit)
  }

  /** Deletes the rows of a deleted bot. */
  async function purge(botId: string): Promise<void> {
    await purgeRows(run, (tx, limit) => store.deleteSomeOf(tx, botId, limit))
  }

  return { count, capture, trim, purge }
}

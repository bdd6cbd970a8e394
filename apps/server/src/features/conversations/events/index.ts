import { contract, type Output } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { visibleTags } from '../../../domain/tags.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { backfillJob, type SecondLook } from './backfill.js'
import {
  createEventsService,
  type EventRecord,
  type EventsDeps,
  type EventsService,
  releaseEventJob,
} from './service.js'
import type { EventRow } from './store.js'

export {
  type CountedEvent,
  findFirstEventTime,
  listCounted as listCountedEvents,
} from './figures-store.js'
export type { EventsService } from './service.js'
export { type EventRow, eventSubjects, isReported } from './store.js'
export { listEventsIn, listReports } from './transcript-store.js'

/** The events of bots, immediate and scheduled. */
export function createEvents(deps: EventsDeps): Feature & { service: EventsService } {
  const service = createEventsService(deps)
  const release: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.release(botId, key)
    },
  }
  const backfill: JobHandler<SecondLook> = {
    handler: async ({ payload }) => {
      await service.backfillRest(payload)
    },
  }
  return {
    name: 'events',
    service,
    routes: eventsRoutes(service),
    jobs: { [releaseEventJob]: release, [backfillJob]: backfill },
    on: {
      'bot.addressed': (tx, { botId, wants }) => service.backfill(tx, botId, { wants }),
      'delivery.ended': service.settle,
      'delivery.reopened': async (tx, { kind, botId, subjectId }) => {
        if (kind === 'event_received') await service.reopen(tx, botId, subjectId)
      },
    },
    purge: service.purge,
  }
}

function eventsRoutes(service: EventsService): Route[] {
  const viewFor = (actor: BotActor) => {
    const alias = aliasOf(actor)
    return ({ row, payload }: EventRecord) => toEvent(row, payload, alias)
  }

  return [
    route(contract.events.create, async ({ actor, body, once }) =>
      once<EventRecord>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ event: viewFor(actor)(made) }),
      ),
    ),

    route(contract.events.get, async ({ actor, params }) => ({
      event: viewFor(actor)(await service.get(actor, params.id)),
    })),

    route(contract.events.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { events: page.rows.map(viewFor(actor)), meta: toPageMeta(page) }
    }),

    route(contract.events.cancelScheduled, async ({ actor, params }) => {
      await service.cancelScheduled(actor, params.id)
      return {}
    }),
  ]
}

export type WireEvent = Output<typeof contract.events.get>['event']

/**
 * An event as the bot or an integration sees it.
 * @param alias of the calling integration; undefined for the bot
 */
export function toEvent(
  row: EventRow,
  payload: Record<string, unknown>,
  alias?: string,
): WireEvent {
  const [type = row.type] = Object.keys(visibleTags(alias, { [row.type]: '' }))
  return {
    id: row.id,
    createdAt: row.created_at,
    type,
    payload,
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.user_id !== null && { userId: row.user_id }),
    ...(row.message_id !== null && { messageId: row.message_id }),
    status: row.status,
    failureReason: row.failure_reason,
  }
}

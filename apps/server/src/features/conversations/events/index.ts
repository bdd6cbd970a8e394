import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { backfillJob, type SecondLook } from './backfill.js'
import { eventsRoutes } from './routes.js'
import {
  createEventsService,
  type EventsDeps,
  type EventsService,
  releaseEventJob,
} from './service.js'

export type { EventsService } from './service.js'
export { eventSubjects, isReported } from './store.js'
export type { Subjects } from './subjects.js'
export { toEvent, type WireEvent } from './view.js'

export interface Events extends Feature {
  service: EventsService
}

/** The events of bots, immediate and scheduled. */
export function createEvents(deps: EventsDeps): Events {
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

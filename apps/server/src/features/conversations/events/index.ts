import type { Route } from '../../../http/mount.js'
import type { Subscriptions } from '../../../platform/domain-events.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { missedEventsJob, type SecondLook } from './missed.js'
import { eventsRoutes } from './routes.js'
import {
  createEventsService,
  type EventsDeps,
  type EventsService,
  releaseEventJob,
} from './service.js'

export type { EventsService } from './service.js'
export type { Subjects } from './subjects.js'
export { toEvent, type WireEvent } from './view.js'

export interface Events {
  service: EventsService
  routes: Route[]
  jobs: Record<string, JobHandler>
  /** What becomes of events when their deliveries end or begin again. */
  on: Subscriptions
}

/** What happens in bots, at once or later. */
export function createEvents(deps: EventsDeps): Events {
  const service = createEventsService(deps)
  const release: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.release(botId, key)
    },
  }
  const missed: JobHandler<SecondLook> = {
    handler: async ({ payload }) => {
      await service.tellRest(payload)
    },
  }
  return {
    service,
    routes: eventsRoutes(service),
    jobs: { [releaseEventJob]: release, [missedEventsJob]: missed },
    on: {
      'delivery.ended': async (tx, { deliveries, failure }) => {
        const received = deliveries.filter(({ kind }) => kind === 'event_received')
        // Sorted, because concurrent transactions lock events of the same bots.
        for (const botId of [...new Set(received.map((delivery) => delivery.botId))].sort()) {
          const ids = received.flatMap((delivery) =>
            delivery.botId === botId ? delivery.subjectId : [],
          )
          await service.settle(tx, botId, ids, failure)
        }
      },
      'delivery.reopened': async (tx, { kind, botId, subjectId }) => {
        if (kind === 'event_received') await service.reopen(tx, botId, subjectId)
      },
    },
  }
}

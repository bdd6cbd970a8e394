import type { Route } from '../../../http/mount.js'
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
  }
}

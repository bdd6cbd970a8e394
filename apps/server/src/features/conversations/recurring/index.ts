import type { JobHandler } from '../../../platform/jobs/handler.js'
import {
  createRecurringService,
  type RecurringDeps,
  type RecurringJob,
  type RecurringService,
  recurringEventJob,
} from './service.js'

export interface Recurring {
  service: RecurringService
  jobs: Record<string, JobHandler>
}

/** Events that bots want to be told again and again. */
export function createRecurring(deps: RecurringDeps): Recurring {
  const service = createRecurringService(deps)
  const fire: JobHandler<RecurringJob> = {
    concurrency: 4,
    handler: async ({ payload: { botId, name } }) => {
      await service.fire(botId, name)
    },
  }
  return { service, jobs: { [recurringEventJob]: fire } }
}

import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import {
  createRecurringService,
  type RecurringDeps,
  type RecurringJob,
  type RecurringService,
  recurringEventJob,
} from './service.js'

export interface Recurring extends Feature {
  service: RecurringService
}

/** Recurring events, sent to bots on the schedules that they declare. */
export function createRecurring(deps: RecurringDeps): Recurring {
  const service = createRecurringService(deps)
  const fire: JobHandler<RecurringJob> = {
    concurrency: 4,
    handler: async ({ payload: { botId, name } }) => {
      await service.fire(botId, name)
    },
  }
  return {
    name: 'recurring-events',
    service,
    jobs: { [recurringEventJob]: fire },
    on: {
      'bot.recurringEventsDeclared': (tx, { botId, declared }) =>
        service.declare(tx, botId, declared),
      'recurringEvent.settled': (tx, { botId, name, failure }) =>
        service.settle(tx, botId, name, failure),
    },
    purge: service.purge,
  }
}

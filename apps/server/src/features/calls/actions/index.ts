import { afterCommit } from '../../../platform/db/transaction.js'
import type { Feature } from '../../feature.js'
import { createOutputCache } from './output-cache.js'
import { actionsRoutes } from './routes.js'
import { type ActionRunsDeps, createActionRuns } from './runs.js'
import { type ActionsDeps, type ActionsService, createActionsService } from './service.js'

/** The slice of actions, as others see it. */
export interface Actions extends Feature {
  /** Plugs in actions that this server runs itself. */
  provide: ActionsService['provide']
}

/** The actions of integrations and bots. */
export function createActions(
  deps: Omit<ActionsDeps, 'outputCache' | 'runs'> & ActionRunsDeps,
): Actions {
  const outputCache = createOutputCache(deps)
  const runs = createActionRuns(deps)
  const service = createActionsService({ ...deps, outputCache, runs })
  return {
    name: 'actions',
    routes: actionsRoutes(service, runs),
    provide: service.provide,
    sweeps: [runs.sweep],
    on: {
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => outputCache.forget(botId)),
    },
    purge: runs.purge,
  }
}

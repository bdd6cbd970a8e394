import { afterCommit } from '../../../platform/db/commit-hooks.js'
import type { Feature } from '../../feature.js'
import { createActionAnswers } from './answers.js'
import { actionsRoutes } from './routes.js'
import { type ActionRunsDeps, createActionRuns } from './runs.js'
import { type ActionsDeps, type ActionsService, createActionsService } from './service.js'

export interface Actions extends Feature {
  /** Plugs in actions that this server does itself. */
  provide: ActionsService['provide']
}

/** What bots have done by integrations, and by themselves. */
export function createActions(
  deps: Omit<ActionsDeps, 'answers' | 'runs'> & ActionRunsDeps,
): Actions {
  const answers = createActionAnswers(deps)
  const runs = createActionRuns(deps)
  const service = createActionsService({ ...deps, answers, runs })
  return {
    name: 'actions',
    routes: actionsRoutes(service, runs),
    provide: service.provide,
    sweeps: [runs.sweep],
    on: {
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => answers.forget(botId)),
    },
    purge: async (owner) => {
      if (owner.kind === 'bot') await runs.purge(owner.id)
    },
  }
}

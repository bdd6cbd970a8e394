import type { Route } from '../../../http/mount.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Chat } from '../../chat/index.js'
import { createActionAnswers } from './answers.js'
import { createChatActions } from './chat-actions.js'
import { actionsRoutes } from './routes.js'
import { type ActionRunsDeps, createActionRuns } from './runs.js'
import { type ActionsDeps, createActionsService } from './service.js'

export interface Actions {
  routes: Route[]
  /** Forgets some of the runs that have served their time; answers how many. */
  sweep(tx: Tx): Promise<number>
  /** Removes what a deleted bot left behind. */
  purge(botId: string): Promise<void>
  /** To be told when a bot or what is installed in it was changed or removed. */
  forgetBot(botId: string): void
}

/** What bots have done by integrations, and by themselves. */
export function createActions(
  deps: Omit<ActionsDeps, 'answers' | 'chatActions' | 'runs'> &
    ActionRunsDeps & {
      chat: Pick<Chat, 'publishMessageStream' | 'sendEvent'>
    },
): Actions {
  const answers = createActionAnswers(deps)
  const chatActions = createChatActions(deps.chat)
  const runs = createActionRuns(deps)
  return {
    routes: actionsRoutes(createActionsService({ ...deps, answers, chatActions, runs }), runs),
    sweep: runs.sweep,
    purge: runs.purge,
    forgetBot: answers.forget,
  }
}

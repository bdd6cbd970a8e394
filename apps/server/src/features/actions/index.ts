import type { Route } from '../../http/mount.js'
import type { Chat } from '../chat/index.js'
import { createActionAnswers } from './answers.js'
import { createChatActions } from './chat-actions.js'
import { actionsRoutes } from './routes.js'
import { type ActionsDeps, createActionsService } from './service.js'

export interface Actions {
  routes: Route[]
  /** To be told when a bot or what is installed in it was changed or removed. */
  forgetBot(botId: string): void
}

/** What bots have done by integrations, and by themselves. */
export function createActions(
  deps: Omit<ActionsDeps, 'answers' | 'chatActions'> & {
    chat: Pick<Chat, 'publishMessageStream' | 'sendEvent'>
  },
): Actions {
  const answers = createActionAnswers(deps)
  const chatActions = createChatActions(deps.chat)
  return {
    routes: actionsRoutes(createActionsService({ ...deps, answers, chatActions })),
    forgetBot: answers.forget,
  }
}

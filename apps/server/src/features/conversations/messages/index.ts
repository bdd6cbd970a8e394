import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { messagesRoutes } from './routes.js'
import { emptyConversationJob, releaseMessageJob } from './scheduled.js'
import { createMessagesService, type MessagesDeps, type MessagesService } from './service.js'

export type { MessagesService } from './service.js'
export { type MessageRow, messageSubjects } from './store.js'
export type { DescribedMessage } from './view.js'

export interface Messages extends Feature {
  service: MessagesService
}

/** The messages of conversations. Those of a deleted bot are deleted with its conversations. */
export function createMessages(deps: MessagesDeps): Messages {
  const service = createMessagesService(deps)
  const release: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.release(botId, key)
    },
  }
  const empty: JobHandler<{ botId: string }> = {
    mayUseReserve: true,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.purge(botId, [key])
    },
  }
  return {
    name: 'messages',
    service,
    routes: messagesRoutes(service),
    jobs: { [releaseMessageJob]: release, [emptyConversationJob]: empty },
    on: { 'conversation.removed': service.emptyConversation },
  }
}

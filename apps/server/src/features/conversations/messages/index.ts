import type { Route } from '../../../http/mount.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { type DescribedMessage, describeMessages } from './described.js'
import { messagesRoutes } from './routes.js'
import { emptyConversationJob, releaseMessageJob } from './scheduled.js'
import { createMessagesService, type MessagesDeps, type MessagesService } from './service.js'

export type { DescribedMessage } from './described.js'
export type { MessagesService } from './service.js'
export type { MessageRow } from './store.js'

export interface Messages {
  service: MessagesService
  /**
   * Messages with their author and conversation, by id, for those that are still there.
   * @param alias of the integration that is told; undefined for the bot
   */
  describe(
    executor: Db | Tx,
    botId: string,
    messageIds: readonly string[],
    alias?: string,
  ): Promise<Map<string, DescribedMessage>>
  routes: Route[]
  jobs: Record<string, JobHandler>
}

/** The messages of conversations. */
export function createMessages(deps: MessagesDeps): Messages {
  const service = createMessagesService(deps)
  const release: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.release(botId, key)
    },
  }
  const empty: JobHandler<{ botId: string }> = {
    freesRoom: true,
    handler: async ({ key = '', payload: { botId } }) => {
      await service.purge(botId, [key])
    },
  }
  return {
    service,
    describe: (executor, botId, messageIds, alias) =>
      describeMessages(deps, executor, botId, messageIds, alias),
    routes: messagesRoutes(service),
    jobs: { [releaseMessageJob]: release, [emptyConversationJob]: empty },
  }
}

import { contract } from '@botstead/contract'
import { aliasOf } from '../../../domain/actor.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { toConversation } from '../conversations/index.js'
import { toUser } from '../users/index.js'
import { emptyConversationJob, releaseMessageJob } from './scheduled.js'
import { createMessagesService, type MessagesDeps, type MessagesService } from './service.js'
import { hasScheduledMessages } from './store.js'
import { toMessage } from './view.js'

export {
  type CountedMessage,
  findFirstMessageTime,
  listCounted as listCountedMessages,
} from './figures-store.js'
export type { MessagesService } from './service.js'
export { listLastMessageTimes, type MessageRow, messageSubjects, sumMessages } from './store.js'
export { textOf } from './text.js'
export {
  listMessagesIn,
  listNewestMessages,
  listPlaces,
  listTexts,
  listTextsBetween,
  listTextsOf,
  listTextsSince,
  type MessageText,
} from './transcript-store.js'
export { type DescribedMessage, toMessage } from './view.js'

/** The messages of conversations. Those of a deleted bot are deleted with its conversations. */
export function createMessages(deps: MessagesDeps): Feature & { service: MessagesService } {
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
    on: {
      'conversation.removed': service.emptyConversation,
      'conversation.unused': async (tx, { botId, id, keep }) => {
        if (await hasScheduledMessages(tx, botId, id)) keep()
      },
    },
  }
}

function messagesRoutes(service: MessagesService): Route[] {
  return [
    route(contract.messages.create, async ({ actor, body, once }) =>
      once<Parameters<typeof toMessage>[0]>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ message: toMessage(made, aliasOf(actor)) }),
      ),
    ),

    route(contract.messages.getOrCreate, async ({ actor, body }) => {
      const { message, created } = await service.getOrCreate(actor, body)
      return { message: toMessage(message, aliasOf(actor)), meta: { created } }
    }),

    route(contract.messages.get, async ({ actor, params }) => ({
      message: toMessage(await service.get(actor, params.id), aliasOf(actor)),
    })),

    route(contract.messages.update, async ({ actor, params, body }) => ({
      message: toMessage(await service.update(actor, params.id, body), aliasOf(actor)),
    })),

    route(contract.messages.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return {
        messages: page.rows.map((row) => toMessage(row, aliasOf(actor))),
        meta: toPageMeta(page),
      }
    }),

    route(contract.messages.remove, async ({ actor, params }) => {
      await service.removeById(actor, params.id)
      return {}
    }),

    route(contract.messages.import, async ({ actor, body }) => {
      const rows = await service.importMessages(actor, body.messages)
      return { messages: rows.map((row) => toMessage(row, aliasOf(actor))) }
    }),

    route(contract.messages.initializeIncoming, async ({ actor, body }) => {
      const alias = aliasOf(actor)
      const { user, conversation, message } = await service.initializeIncoming(actor, body)
      return {
        user: toUser(user, alias),
        conversation: toConversation(conversation, alias),
        ...(message && { message: toMessage(message, alias) }),
      }
    }),
  ]
}

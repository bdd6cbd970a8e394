import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { ConversationRow } from '../conversations/index.js'
import type { ChatMessageRecord, ChatService, NewChatUser } from './service.js'
import { toConversation, toMessage, toUser } from './view.js'

export function chatRoutes(service: ChatService): Route[] {
  return [
    // Getting here is the proof: authentication knows the address.
    route(contract.chat.hello, async () => ({ status: 'ok' as const })),

    route(contract.chat.createUser, async ({ actor, body, once }) =>
      once<NewChatUser>(
        (remember) => service.createUser(actor, body, remember),
        ({ user, key }) => ({ user: toUser(user), key }),
      ),
    ),

    route(contract.chat.getOrCreateUser, async ({ actor, body }) => ({
      user: toUser(await service.getOrCreateUser(actor, body)),
    })),

    route(contract.chat.getUser, async ({ actor }) => ({
      user: toUser(await service.getUser(actor)),
    })),

    route(contract.chat.createConversation, async ({ actor, body, once }) =>
      once<ConversationRow>(
        (remember) => service.createConversation(actor, body, remember),
        (made) => ({ conversation: toConversation(made) }),
      ),
    ),

    route(contract.chat.getConversation, async ({ actor, params }) => ({
      conversation: toConversation(await service.getConversation(actor, params.id)),
    })),

    route(contract.chat.listMessages, async ({ actor, params, query }) => {
      const page = await service.listMessages(actor, params.conversationId, query)
      return { messages: page.rows.map(toMessage), meta: toPageMeta(page) }
    }),

    route(contract.chat.createMessage, async ({ actor, body, once }) =>
      once<ChatMessageRecord>(
        (remember) => service.createMessage(actor, body, remember),
        (made) => ({ message: toMessage(made) }),
      ),
    ),
  ]
}

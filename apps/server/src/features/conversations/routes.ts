import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import { aliasOf, type ConversationRow, type ConversationsService } from './service.js'
import { toConversation } from './view.js'

export function conversationsRoutes(service: ConversationsService): Route[] {
  return [
    route(contract.conversations.create, async ({ actor, body, once }) =>
      once<ConversationRow>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ conversation: toConversation(made, aliasOf(actor)) }),
      ),
    ),

    route(contract.conversations.get, async ({ actor, params }) => ({
      conversation: toConversation(await service.get(actor, params.id), aliasOf(actor)),
    })),

    route(contract.conversations.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return {
        conversations: page.rows.map((row) => toConversation(row, aliasOf(actor))),
        meta: toPageMeta(page),
      }
    }),
  ]
}

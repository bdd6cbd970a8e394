import { contract } from '@botstead/contract'
import { aliasOf } from '../../../domain/actor.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { Feature } from '../../feature.js'
import { toUser } from '../users/index.js'
import {
  type ConversationsDeps,
  type ConversationsService,
  createConversationsService,
} from './service.js'
import type { ConversationRow } from './store.js'
import { toConversation } from './view.js'

export {
  type ActivityKey,
  type ActivityRange,
  type ConversationNarrowing,
  countActivity,
  listActivity,
  listConversationsOf,
  listMembers,
  narrowConversations,
} from './activity-store.js'
export {
  type CustomEvent,
  conversationEvents,
  type EventPosition,
} from './log.js'
export type { ConversationsService } from './service.js'
export type { ConversationRef, MessageSlot } from './slot-store.js'
export {
  type ConversationRow,
  conversationOwners,
  countConversations,
  sumConversations,
} from './store.js'
export { publicIdOf, toConversation } from './view.js'

/** The conversations of bots, their participants, and the operations of bots and integrations on them. */
export function createConversations(
  deps: ConversationsDeps,
): Feature & { service: ConversationsService } {
  const service = createConversationsService(deps)
  return {
    name: 'conversations',
    service,
    routes: conversationsRoutes(service),
    on: { 'user.removed': service.forgetUser },
    purge: service.purge,
  }
}

function conversationsRoutes(service: ConversationsService): Route[] {
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

    route(contract.conversations.getOrCreate, async ({ actor, body }) => {
      const { row, created } = await service.getOrCreateByTags(actor, body)
      return { conversation: toConversation(row, aliasOf(actor)), meta: { created } }
    }),

    route(contract.conversations.update, async ({ actor, params, body }) => ({
      conversation: toConversation(await service.update(actor, params.id, body), aliasOf(actor)),
    })),

    route(contract.conversations.remove, async ({ actor, params }) => {
      await service.removeById(actor, params.id)
      return {}
    }),

    route(contract.conversations.listParticipants, async ({ actor, params, query }) => {
      const page = await service.pageOfParticipants(actor, params.id, query)
      return {
        participants: page.rows.map((row) => toUser(row, aliasOf(actor))),
        meta: toPageMeta(page),
      }
    }),

    route(contract.conversations.addParticipant, async ({ actor, params, body }) => ({
      participant: toUser(
        await service.addParticipant(actor, params.id, body.userId),
        aliasOf(actor),
      ),
    })),

    route(contract.conversations.getParticipant, async ({ actor, params }) => ({
      participant: toUser(
        await service.getParticipant(actor, params.id, params.userId),
        aliasOf(actor),
      ),
    })),

    route(contract.conversations.removeParticipant, async ({ actor, params }) => {
      await service.removeParticipant(actor, params.id, params.userId)
      return {}
    }),
  ]
}

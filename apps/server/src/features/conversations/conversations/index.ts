import type { Feature } from '../../feature.js'
import { conversationsRoutes } from './routes.js'
import {
  type ConversationsDeps,
  type ConversationsService,
  createConversationsService,
} from './service.js'

export {
  type CustomEvent,
  conversationEvents,
  type EventPosition,
} from './log.js'
export type { ConversationsService } from './service.js'
export type { ConversationRef, MessageSlot } from './slot-store.js'
export { type ConversationRow, conversationOwners } from './store.js'
export { publicIdOf, toConversation } from './view.js'

export interface Conversations extends Feature {
  service: ConversationsService
}

/** The conversations of bots, who takes part in them, and what bots and integrations do with them. */
export function createConversations(deps: ConversationsDeps): Conversations {
  const service = createConversationsService(deps)
  return {
    name: 'conversations',
    service,
    routes: conversationsRoutes(service),
    on: { 'user.removed': service.forgetUser },
    purge: service.purge,
  }
}

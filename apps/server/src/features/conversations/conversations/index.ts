import type { Route } from '../../../http/mount.js'
import { conversationsRoutes } from './routes.js'
import {
  type ConversationsDeps,
  type ConversationsService,
  createConversationsService,
} from './service.js'

export { publicIdOf } from './membership.js'
export { type ConversationRef, type CustomEvent, news, type Told } from './news.js'
export type { Place } from './place-store.js'
export type { ConversationsService } from './service.js'
export type { ConversationRow } from './store.js'
export { toConversation } from './view.js'

export interface Conversations {
  service: ConversationsService
  routes: Route[]
}

/** The conversations of bots, who takes part in them, and what bots and integrations do with them. */
export function createConversations(deps: ConversationsDeps): Conversations {
  const service = createConversationsService(deps)
  return { service, routes: conversationsRoutes(service) }
}

import { createMessagesService, type MessagesDeps, type MessagesService } from './service.js'

export type { MessagesService } from './service.js'
export type { MessageRow } from './store.js'

export interface Messages {
  service: MessagesService
}

/** The messages of conversations. */
export function createMessages(deps: MessagesDeps): Messages {
  return { service: createMessagesService(deps) }
}

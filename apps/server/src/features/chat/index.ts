import type { Route } from '../../http/mount.js'
import type { Authenticator } from '../../platform/authenticator.js'
import type { BotsService } from '../bots/index.js'
import { createChatAddresses } from './addresses.js'
import { createChatAuthenticator } from './authenticator.js'
import { chatRoutes } from './routes.js'
import { type ChatDeps, type ChatService, createChatService } from './service.js'
import { createUserKeys } from './user-keys.js'

export interface Chat {
  service: ChatService
  routes: Route[]
  /** Who calls at a chat address. */
  authenticator: Pick<Authenticator, 'chat' | 'chatUser'>
  /** To be told when a bot or what is installed in it was changed or removed. */
  forgetBot(botId: string): void
}

/** What web chats call, at the chat address of one bot. */
export function createChat(
  deps: ChatDeps & { bots: Pick<BotsService, 'findChatInstallation'>; sharedSecret: Uint8Array },
): Chat {
  const { bots, clock, sharedSecret } = deps
  const addresses = createChatAddresses({
    clock,
    findInstallation: (webhookId) => bots.findChatInstallation(webhookId),
  })
  const keys = createUserKeys({ clock, sharedSecret })
  const service = createChatService({ ...deps, keys })
  return {
    service,
    routes: chatRoutes(service),
    authenticator: createChatAuthenticator(addresses, keys),
    forgetBot: addresses.forget,
  }
}

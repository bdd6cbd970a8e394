import type { Authenticator } from '../../platform/authenticator.js'
import type { ChatAddresses } from './addresses.js'
import type { UserKeys } from './user-keys.js'

/** Knows who calls at chat addresses; without I/O when it has seen address and key before. */
export function createChatAuthenticator(
  addresses: ChatAddresses,
  keys: UserKeys,
): Pick<Authenticator, 'chat' | 'chatUser'> {
  return {
    chat(webhookId, address) {
      const chat = addresses.get(webhookId)
      return chat instanceof Promise
        ? chat.then((found) => ({ kind: 'chat', chat: found, address }))
        : { kind: 'chat', chat, address }
    },

    chatUser(webhookId, userKey) {
      const chat = addresses.get(webhookId)
      return chat instanceof Promise
        ? chat.then((found) => keys.verify(found, userKey))
        : keys.verify(chat, userKey)
    },
  }
}

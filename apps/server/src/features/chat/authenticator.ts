import type { Authenticator } from '../../domain/authenticator.js'
import type { Db } from '../../platform/db/schema.js'
import type { ChatAddresses } from './addresses.js'
import type { Callers } from './callers.js'
import type { UserKeys } from './user-keys.js'

/** Knows who calls at chat addresses; calls are let in without I/O when address and key were seen before. */
export function createChatAuthenticator(
  addresses: ChatAddresses,
  keys: UserKeys,
  { db, findUser }: Pick<Callers, 'findUser'> & { db: Db },
): Pick<Authenticator, 'chat' | 'chatUser' | 'holderOf'> {
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

    holderOf: async (actor) => (await findUser(db, actor))?.id,
  }
}

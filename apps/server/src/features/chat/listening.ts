import { ApiError } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Clock } from '../../platform/clock.js'
import type { StartStream } from '../../platform/streams/sink.js'
import { publicIdOf as publicConversationId } from '../conversations/conversations/index.js'
import { isGoodKey } from '../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notParticipant } from './access.js'
import type { ChatAddresses } from './addresses.js'
import type { ConversationStreams } from './streams/index.js'

export interface ListenOperationsDeps extends ChatAccessDeps {
  clock: Clock
  addresses: ChatAddresses
  streams: Pick<ConversationStreams, 'subscribe'>
}

/** Operations for listening to conversations. */
export function listenOperations(deps: ListenOperationsDeps, access: ChatAccess) {
  const { db, clock, users, conversations, addresses, streams } = deps

  /** URL parsers turn a backslash into a slash, and clients do not encode the id here. */
  async function openConversation(actor: ChatUserActor, id: string) {
    const opened = await access.openConversation(actor, id)
    if (opened !== undefined || !id.includes('/')) return opened
    return await access.openConversation(actor, id.replaceAll('/', '\\'))
  }

  async function isStillAuthorized(actor: ChatUserActor): Promise<boolean> {
    const { chat, keyExpiresAt } = actor
    if (keyExpiresAt !== undefined && clock.now() >= keyExpiresAt) return false
    try {
      const address = await addresses.get(chat.webhookId)
      return address.botId === chat.botId && address.encryptionKey === chat.encryptionKey
    } catch (error) {
      if (error instanceof ApiError && error.type === 'ResourceNotFound') return false
      throw error
    }
  }

  return {
    /**
     * Subscribes a participant and returns the function that serves the connection. The first user
     * to open a conversation that has no owner yet becomes its owner.
     * @param after number of the last event that the client has
     */
    async listen(
      actor: ChatUserActor,
      conversationId: string,
      after: number | undefined,
    ): Promise<StartStream> {
      const opened = await openConversation(actor, conversationId)
      if (opened === undefined) throw notParticipant(conversationId)
      const { user, conversation } = opened
      const { botId } = actor.chat
      const member = { botId, userId: user.id }
      return await streams.subscribe(
        { botId, id: conversation.id, publicId: publicConversationId(conversation) },
        {
          userId: user.id,
          authorizedAt: conversation.last_sequence,
          after,
          isAuthorized: () => isStillAuthorized(actor),
          isParticipant: async () => {
            const current = await users.find(db, botId, actor.userKeyId)
            if (current?.id !== user.id || !isGoodKey(current, actor.keyIssuedAt)) return false
            const found = await conversations.findFor(db, member, conversation.id)
            return found?.participates ?? false
          },
        },
      )
    },
  }
}

import { ApiError } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Clock } from '../../platform/clock.js'
import type { StartStream } from '../../platform/streams/sink.js'
import { publicIdOf as publicConversationId } from '../conversations/conversations/index.js'
import { isGoodKey } from '../conversations/users/index.js'
import type { ChatAddresses } from './addresses.js'
import { type Callers, type CallersDeps, notParticipant } from './callers.js'
import type { Listening } from './streams/index.js'

export interface ListenOperationsDeps extends CallersDeps {
  clock: Clock
  addresses: ChatAddresses
  listening: Pick<Listening, 'admit'>
}

/** How users listen to conversations. */
export function listenOperations(deps: ListenOperationsDeps, callers: Callers) {
  const { db, clock, users, conversations, addresses, listening } = deps

  /** Addresses turn a backslash into a slash, and clients do not encode the id here. */
  async function enter(actor: ChatUserActor, id: string) {
    const entered = await callers.enter(actor, id)
    if (entered !== undefined || !id.includes('/')) return entered
    return await callers.enter(actor, id.replaceAll('/', '\\'))
  }

  async function isGood(actor: ChatUserActor): Promise<boolean> {
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
     * Lets a participant in; what it answers serves the connection. Who opens a conversation that has
     * no owner yet becomes its owner.
     * @param after the last number the listener has
     */
    async listen(
      actor: ChatUserActor,
      conversationId: string,
      after: number | undefined,
    ): Promise<StartStream> {
      const entered = await enter(actor, conversationId)
      if (entered === undefined) throw notParticipant(conversationId)
      const { user, conversation } = entered
      const { botId } = actor.chat
      const member = { botId, userId: user.id }
      return await listening.admit(
        { botId, id: conversation.id, publicId: publicConversationId(conversation) },
        {
          userId: user.id,
          authorizedAt: conversation.last_sequence,
          after,
          stillWelcome: () => isGood(actor),
          stillTakesPart: async () => {
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

import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { ConversationRow } from '../conversations/index.js'
import { publicIdOf } from '../users/index.js'
import type { MessagesDeps } from './service.js'

/** Who writes a message. */
export interface Author {
  id: string
  publicId: string
  /** Whether the author takes part in the conversation already. */
  participates: boolean
  /** Where the author writes. */
  conversation: Pick<ConversationRow, 'integration' | 'channel'>
}

/** Checks that conversation and author of a message exist and are for the caller to see. */
export function authorOf({ conversations, users }: Pick<MessagesDeps, 'conversations' | 'users'>) {
  return async (
    tx: Tx,
    actor: BotActor,
    conversationId: string,
    userId: string,
  ): Promise<Author> => {
    const { botId, caller } = actor
    const found = await conversations.findFor(tx, { botId, userId }, conversationId)
    const conversation = found?.conversation
    if (
      conversation === undefined ||
      // Ids that apps chose are of the chat address only.
      conversation.id !== conversationId ||
      (caller.type === 'integration' && conversation.integration !== caller.alias)
    ) {
      throw unknown('conversationId', `there is no conversation ${conversationId}.`)
    }
    if (userId === botId) return { id: botId, publicId: botId, participates: true, conversation }
    if (found?.participates) {
      return { id: userId, publicId: userId, participates: true, conversation }
    }
    const user = await users.findVisible(tx, actor, userId)
    if (user === undefined) throw unknown('userId', `there is no user ${userId}.`)
    return { id: user.id, publicId: publicIdOf(user), participates: false, conversation }
  }
}

function unknown(field: string, message: string): ApiError {
  return new ApiError('ReferenceNotFound', `body.${field}: ${message}`, {
    metadata: { in: 'body', field },
  })
}

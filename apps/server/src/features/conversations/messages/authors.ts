import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { requireShape } from '../../../domain/payload.js'
import { noReference } from '../../../domain/refusals.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { ConversationRow, ConversationsService } from '../conversations/index.js'
import { publicIdOf, type UsersService } from '../users/index.js'

/** The author of a message. */
export interface Author {
  id: string
  publicId: string
  /** Whether the author is a participant of the conversation already. */
  participates: boolean
  /** The conversation in which the author writes. */
  conversation: Pick<ConversationRow, 'integration' | 'channel'>
}

export interface AuthorsDeps {
  conversations: Pick<ConversationsService, 'findFor'>
  users: Pick<UsersService, 'findVisible'>
}

/**
 * Throws unless the conversation and the author of a message exist and are visible to the caller.
 */
export async function requireAuthor(
  { conversations, users }: AuthorsDeps,
  tx: Tx,
  actor: BotActor,
  conversationId: string,
  userId: string,
): Promise<Author> {
  const { botId, caller } = actor
  const found = await conversations.findFor(tx, { botId, userId }, conversationId)
  const conversation = found?.conversation
  if (
    conversation === undefined ||
    // Foreign ids are valid at the chat address only.
    conversation.id !== conversationId ||
    (caller.type === 'integration' && conversation.integration !== caller.alias)
  ) {
    throw noReference('body.conversationId', 'conversation', conversationId)
  }
  if (userId === botId) return { id: botId, publicId: botId, participates: true, conversation }
  if (found?.participates) {
    return { id: userId, publicId: userId, participates: true, conversation }
  }
  const user = await users.findVisible(tx, actor, userId)
  if (user === undefined) throw noReference('body.userId', 'user', userId)
  return { id: user.id, publicId: publicIdOf(user), participates: false, conversation }
}

/**
 * Throws unless the channel declares the type of a message and its payload fits the schema. Nothing
 * is checked for a channel without declared messages, or when the integration is not installed.
 * @param path of the object in the body that has `type` and `payload`, with a trailing dot
 */
export function requireMessageShape(
  profile: BotProfile,
  { integration, channel }: Author['conversation'],
  { type, payload }: { type: string; payload: unknown },
  path = '',
): void {
  const messages = profile.messagesOf(integration, channel)
  const types = Object.keys(messages ?? {})
  if (messages === undefined || types.length === 0) return
  const message = Object.hasOwn(messages, type) ? messages[type] : undefined
  if (message === undefined) {
    // A built-in integration has the same messages in all channels.
    const isSame = profile.installationOf(integration)?.isBuiltIn === true
    throw new ApiError(
      'InvalidPayload',
      `body.${path}type: ${isSame ? integration : `the channel ${channel} of ${integration}`} has no messages of the type ${type}; it has ${types.join(', ')}.`,
      { metadata: { in: 'body', field: `${path}type` } },
    )
  }
  requireShape(message.schema, payload, `${path}payload`, `messages of the type ${type}`)
}

import { ApiError } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Clock } from '../../platform/clock.js'
import type { StartStream } from '../../platform/streams/sink.js'
import {
  type ConversationRow,
  publicIdOf as publicConversationId,
} from '../conversations/conversations/index.js'
import { isGoodKey, type UserRow } from '../conversations/users/index.js'
import type { ChatAccess, ChatAccessDeps } from './access.js'
import type { ChatAddresses } from './addresses.js'
import type { ConversationStreams, Subscriber } from './streams/index.js'
import type { WebchatSettingsService } from './webchat-settings/index.js'

interface ListeningDeps extends ChatAccessDeps {
  clock: Clock
  addresses: ChatAddresses
  allowsOrigin: WebchatSettingsService['allowsOrigin']
}

/** What a listener has already, what it is sent first, and where it comes from. */
interface ListenOptions extends Pick<Subscriber, 'after' | 'firstFrames' | 'onFirstFramesTaken'> {
  /** Origin of the page that listens; undefined for programs and pages of this server. */
  pageOrigin: string | undefined
}

/** A conversation as a participant opened it. */
export interface OpenedConversation {
  user: UserRow
  conversation: ConversationRow
}

export type Listening = ReturnType<typeof createListening>

/** Opens conversations for listeners, in whatever protocol. */
export function createListening(deps: ListeningDeps, access: ChatAccess) {
  const { db, clock, users, conversations, addresses, allowsOrigin } = deps

  async function isStillAuthorized(
    actor: ChatUserActor,
    pageOrigin: string | undefined,
  ): Promise<boolean> {
    const { chat, keyExpiresAt } = actor
    if (keyExpiresAt !== undefined && clock.now() >= keyExpiresAt) return false
    try {
      const address = await addresses.get(chat.webhookId)
      const isSame = address.botId === chat.botId && address.encryptionKey === chat.encryptionKey
      if (!isSame || pageOrigin === undefined) return isSame
      return await allowsOrigin(chat.webhookId, pageOrigin)
    } catch (error) {
      if (error instanceof ApiError && error.type === 'ResourceNotFound') return false
      throw error
    }
  }

  return {
    /**
     * The conversation with an id for a participant; undefined if there is none.
     * URL parsers turn a backslash into a slash, and clients do not encode the id here.
     */
    async open(actor: ChatUserActor, id: string): Promise<OpenedConversation | undefined> {
      const opened = await access.openConversation(actor, id)
      if (opened !== undefined || !id.includes('/')) return opened
      return await access.openConversation(actor, id.replaceAll('/', '\\'))
    },

    /** Subscribes a participant and returns the function that serves the connection. */
    async follow(
      streams: Pick<ConversationStreams, 'subscribe'>,
      actor: ChatUserActor,
      { user, conversation }: OpenedConversation,
      { after, pageOrigin, ...first }: ListenOptions,
    ): Promise<StartStream> {
      const { botId } = actor.chat
      const member = { botId, userId: user.id }
      return await streams.subscribe(
        { botId, id: conversation.id, publicId: publicConversationId(conversation) },
        {
          userId: user.id,
          authorizedAt: conversation.last_sequence,
          after,
          ...first,
          isAuthorized: () => isStillAuthorized(actor, pageOrigin),
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

import { ApiError } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Authorities, Ground } from '../../platform/authorities.js'
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
  authorities: Pick<Authorities, 'guard'>
  clock: Clock
  addresses: ChatAddresses
  allowsOrigin: WebchatSettingsService['allowsOrigin']
}

/** The position of a listener, its first frames and the origin of its page. */
interface ListenOptions extends Pick<Subscriber, 'after' | 'firstFrames' | 'onFirstFramesTaken'> {
  /** Origin of the page that listens; undefined for programs and pages of this server. */
  pageOrigin: string | undefined
}

/** The subscriber of an open stream, and the page that opened it. */
interface OpenStream {
  actor: ChatUserActor
  /** Native id. */
  userId: string
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
  const { db, users, conversations, addresses, allowsOrigin } = deps
  const guard = deps.authorities.guard<OpenStream>(async (open) => {
    const isGood = await goodUsers(open)
    return await Promise.all(
      open.map(async ({ actor, userId, pageOrigin }) =>
        isGood(actor, userId) ? await untilOf(actor, pageOrigin) : 0,
      ),
    )
  })

  /** Reads which users still exist with good keys: one query for all of a bot. */
  async function goodUsers(open: readonly OpenStream[]) {
    const known = new Map<string, UserRow>()
    const botIds = new Set(open.map(({ actor }) => actor.chat.botId))
    for (const botId of botIds) {
      const ids = open.filter(({ actor }) => actor.chat.botId === botId)
      const rows = await users.findAll(db, botId, [...new Set(ids.map(({ userId }) => userId))])
      for (const row of rows) known.set(row.id, row)
    }
    return ({ keyIssuedAt }: ChatUserActor, userId: string): boolean => {
      const user = known.get(userId)
      return user !== undefined && isGoodKey(user, keyIssuedAt)
    }
  }

  /** Until when a key is valid at its address for a page: milliseconds of the clock, 0 if it is not. */
  async function untilOf(
    { chat, keyExpiresAt = Number.POSITIVE_INFINITY }: ChatUserActor,
    pageOrigin: string | undefined,
  ): Promise<number> {
    try {
      const address = await addresses.get(chat.webhookId)
      const isSame = address.botId === chat.botId && address.encryptionKey === chat.encryptionKey
      if (!isSame) return 0
      const isAllowed = pageOrigin === undefined || (await allowsOrigin(chat.webhookId, pageOrigin))
      return isAllowed ? keyExpiresAt : 0
    } catch (error) {
      if (error instanceof ApiError && error.type === 'ResourceNotFound') return 0
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
      const grounds: Ground[] = [`bot:${botId}`, `user:${user.id}`]
      return await streams.subscribe(
        { botId, id: conversation.id, publicId: publicConversationId(conversation) },
        {
          userId: user.id,
          authorizedAt: conversation.last_sequence,
          after,
          ...first,
          watch: (end) =>
            guard.watch({ authority: { actor, userId: user.id, pageOrigin }, grounds, end }),
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

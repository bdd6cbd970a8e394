import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatActor, ChatUserActor } from '../../domain/actor.js'
import type { Clock } from '../../platform/clock.js'
import type { StartStream } from '../../platform/streams/sink.js'
import { publicIdOf as publicConversationId } from '../conversations/conversations/index.js'
import { isGoodKey, publicIdOf, type UserRow } from '../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notParticipant } from './access.js'
import type { ChatAddresses } from './addresses.js'
import { type ConversationOperationsDeps, conversationOperations } from './conversations.js'
import { type EventOperationsDeps, eventOperations } from './events.js'
import { type MessageOperationsDeps, messageOperations } from './messages.js'
import type { ConversationStreams } from './streams/index.js'
import type { UserKeys } from './user-keys.js'

type NewUser = Body<typeof contract.chat.createUser>
type UserProfile = Body<typeof contract.chat.getOrCreateUser>

export interface ChatServiceDeps
  extends ConversationOperationsDeps,
    EventOperationsDeps,
    MessageOperationsDeps,
    Omit<ListenOperationsDeps, 'streams'> {
  keys: UserKeys
  streams: ListenOperationsDeps['streams'] & MessageOperationsDeps['streams']
}

export type ChatService = ReturnType<typeof createChatService>

/** All operations at chat addresses. */
export function createChatService(deps: ChatServiceDeps, access: ChatAccess) {
  return {
    ...userOperations(deps, access),
    ...conversationOperations(deps, access),
    ...messageOperations(deps, access),
    ...eventOperations(deps, access),
    ...listenOperations(deps, access),
  }
}

/** A user with its key. */
interface NewChatUser {
  user: UserRow
  key: string
}

/** Operations of users on themselves. */
function userOperations(deps: ChatAccessDeps & { keys: UserKeys }, access: ChatAccess) {
  const { db, run, users, conversations, keys } = deps
  return {
    async createUser({ chat }: ChatActor, input: NewUser): Promise<NewChatUser> {
      if (chat.encryptionKey !== undefined) {
        throw new ApiError(
          'Unauthorized',
          'This chat address has an encryption key: sign a user key with it and use get-or-create.',
        )
      }
      const { id, ...profile } = input
      const user = await run((tx) => users.insert(tx, users.draft(chat, id, profile)))
      return { user, key: await keys.sign(chat, publicIdOf(user), user.keys_revoked_at) }
    },

    async getOrCreateUser(actor: ChatUserActor, profile: UserProfile): Promise<UserRow> {
      return await users.getOrCreate(actor.chat, actor.userKeyId, profile, actor.keyIssuedAt)
    },

    async getUser(actor: ChatUserActor): Promise<UserRow> {
      return await access.requireUser(db, actor)
    },

    /** Overwrites the given members; the rest stays unchanged. */
    async updateUser(actor: ChatUserActor, profile: UserProfile): Promise<UserRow> {
      return await run(async (tx) => {
        const user = await access.requireUser(tx, actor)
        return (await users.patch(tx, user.bot_id, user.id, profile)) ?? user
      })
    },

    /** Its messages stay and no event is sent. Its id becomes free, and its keys are refused. */
    async deleteUser(actor: ChatUserActor): Promise<void> {
      await run(
        async (tx) => {
          const { bot_id: botId, id } = await access.requireUser(tx, actor)
          await conversations.forgetUser(tx, { botId, userId: id })
          await users.remove(tx, botId, id)
        },
        { mayUseReserve: true },
      )
    },
  }
}

interface ListenOperationsDeps extends ChatAccessDeps {
  clock: Clock
  addresses: ChatAddresses
  streams: Pick<ConversationStreams, 'subscribe'>
}

/** Operations for listening to conversations. */
function listenOperations(deps: ListenOperationsDeps, access: ChatAccess) {
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

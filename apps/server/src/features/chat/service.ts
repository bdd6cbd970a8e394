import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatActor, ChatUserActor } from '../../domain/actor.js'
import type { StartStream } from '../../platform/streams/sink.js'
import { publicIdOf, type UserRow } from '../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notParticipant } from './access.js'
import { type ConversationOperationsDeps, conversationOperations } from './conversations.js'
import { type EventOperationsDeps, eventOperations } from './events.js'
import type { Listening } from './listening.js'
import { type MessageOperationsDeps, messageOperations } from './messages.js'
import type { ConversationStreams } from './streams/index.js'
import { detailsOf } from './user-details.js'
import type { UserKeys } from './user-keys.js'
import type { AdminCheck } from './webchat/index.js'

type NewUser = Body<typeof contract.chat.createUser>
type UserProfile = Body<typeof contract.chat.getOrCreateUser>
type UserChanges = Body<typeof contract.chat.updateUser>

export interface ChatServiceDeps
  extends ConversationOperationsDeps,
    EventOperationsDeps,
    MessageOperationsDeps,
    UserOperationsDeps {
  streams: Pick<ConversationStreams, 'subscribe'> & MessageOperationsDeps['streams']
  listening: Listening
}

export type ChatService = ReturnType<typeof createChatService>

/** All operations at chat addresses. */
export function createChatService(deps: ChatServiceDeps, access: ChatAccess) {
  return {
    ...userOperations(deps, access),
    ...conversationOperations(deps, access),
    ...messageOperations(deps, access),
    ...eventOperations(deps, access),
    ...listenOperations(deps),
  }
}

/** A user with its key. */
interface NewChatUser {
  user: UserRow
  key: string
}

interface UserOperationsDeps extends ChatAccessDeps {
  keys: UserKeys
  /** Whether a call has the admin secret of its chat. */
  isAdmin: AdminCheck
}

/** Operations of users on themselves. */
function userOperations(deps: UserOperationsDeps, access: ChatAccess) {
  const { db, run, users, conversations, keys, isAdmin } = deps
  return {
    /** @param adminSecret of the chat, if the caller has it */
    async createUser(
      { chat }: ChatActor,
      input: NewUser,
      adminSecret?: string,
    ): Promise<NewChatUser> {
      const byAdmin = await isAdmin(chat, adminSecret)
      if (chat.encryptionKey !== undefined && !byAdmin) {
        throw new ApiError(
          'Unauthorized',
          'This chat address has an encryption key: sign a user key with it and use get-or-create.',
        )
      }
      const { id, name, pictureUrl, profile: about, ...details } = input
      const profile = {
        ...(name !== undefined && { name }),
        ...(pictureUrl !== undefined && { pictureUrl }),
        ...(about !== undefined && { profile: about }),
        ...(await detailsOf(keys, chat, details)),
      }
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
    async updateUser(actor: ChatUserActor, input: UserChanges): Promise<UserRow> {
      const { userData, data, attributes, ...profile } = input
      const details = await detailsOf(keys, actor.chat, { userData, data, attributes })
      return await run(async (tx) => {
        const user = await access.requireUser(tx, actor)
        return (await users.patch(tx, user.bot_id, user.id, { ...profile, ...details })) ?? user
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

/** Operations for listening to conversations. */
function listenOperations({ listening, streams }: Pick<ChatServiceDeps, 'listening' | 'streams'>) {
  return {
    /**
     * Subscribes a participant and returns the function that serves the connection. The first user
     * to open a conversation that has no owner yet becomes its owner.
     * @param after number of the last event that the client has
     * @param pageOrigin origin of the page that listens; undefined for programs and pages of this server
     */
    async listen(
      actor: ChatUserActor,
      conversationId: string,
      after: number | undefined,
      pageOrigin?: string,
    ): Promise<StartStream> {
      const opened = await listening.open(actor, conversationId)
      if (opened === undefined) throw notParticipant(conversationId)
      return await listening.follow(streams, actor, opened, { after, pageOrigin })
    },
  }
}

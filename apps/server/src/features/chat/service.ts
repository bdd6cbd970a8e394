import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatActor, ChatUserActor } from '../../domain/actor.js'
import { publicIdOf, type UserRow } from '../conversations/users/index.js'
import type { ChatAccess, ChatAccessDeps } from './access.js'
import { type ConversationOperationsDeps, conversationOperations } from './conversations.js'
import { type EventOperationsDeps, eventOperations } from './events.js'
import { type ListenOperationsDeps, listenOperations } from './listening.js'
import { type MessageOperationsDeps, messageOperations } from './messages.js'
import type { UserKeys } from './user-keys.js'

type NewUser = Body<typeof contract.chat.createUser>
type UserProfile = Body<typeof contract.chat.getOrCreateUser>

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

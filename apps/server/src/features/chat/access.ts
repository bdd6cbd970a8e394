import { ApiError } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import { notFound } from '../../domain/refusals.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import type { ConversationRow, ConversationsService } from '../conversations/conversations/index.js'
import { requireGoodKey, type UserRow, type UsersService } from '../conversations/users/index.js'

export interface ChatAccessDeps {
  db: Db
  run: Run
  users: UsersService
  conversations: ConversationsService
}

export type ChatAccess = ReturnType<typeof createChatAccess>

/** Resolves the user of a key, and checks what the user may do with a conversation. */
export function createChatAccess({ db, run, users, conversations }: ChatAccessDeps) {
  /** The user of a key; undefined if there is none. Throws if the key is no longer valid. */
  async function findUser(
    executor: Db | Tx,
    { chat, userKeyId, keyIssuedAt }: ChatUserActor,
  ): Promise<UserRow | undefined> {
    const user = await users.find(executor, chat.botId, userKeyId)
    if (user !== undefined) requireGoodKey(user, keyIssuedAt)
    return user
  }

  async function requireUser(executor: Db | Tx, actor: ChatUserActor): Promise<UserRow> {
    const user = await findUser(executor, actor)
    if (user !== undefined) return user
    throw new ApiError(
      'ResourceNotFound',
      `There is no user ${actor.userKeyId}: create it with get-or-create.`,
    )
  }

  /** A conversation for the user of a key; an unknown user takes part in none. */
  async function findConversation(
    actor: ChatUserActor,
    conversationId: string,
    executor: Db | Tx = db,
  ) {
    const { botId } = actor.chat
    const user = await findUser(executor, actor)
    const member = { botId, userId: user?.id ?? actor.userKeyId }
    return { user, member, found: await conversations.findFor(executor, member, conversationId) }
  }

  /**
   * Opens a conversation: the first user to open one that has no owner yet becomes its owner.
   * Undefined if there is no such conversation; throws `Forbidden` unless the user takes part.
   */
  async function openConversation(
    actor: ChatUserActor,
    id: string,
  ): Promise<{ user: UserRow; conversation: ConversationRow } | undefined> {
    const { user, member, found } = await findConversation(actor, id)
    if (found === undefined) return undefined
    if (user === undefined) throw notParticipant(id)
    if (found.participates) return { user, conversation: found.conversation }
    if (found.conversation.claimable === 0) throw notParticipant(id)
    return await run(async (tx) => {
      await conversations.claim(tx, member, id)
      const claimed = await conversations.findFor(tx, member, id)
      if (!claimed?.participates) throw notParticipant(id)
      return { user, conversation: claimed.conversation }
    })
  }

  /**
   * A conversation that the user takes part in; a missing one is refused like one of other users.
   */
  async function requireParticipant(
    actor: ChatUserActor,
    conversationId: string,
    executor: Db | Tx = db,
  ): Promise<{ user: UserRow; conversation: ConversationRow }> {
    const { user, found } = await findConversation(actor, conversationId, executor)
    if (user === undefined || !found?.participates) throw notParticipant(conversationId)
    return { user, conversation: found.conversation }
  }

  /** A conversation that the user owns. */
  async function requireOwner(
    executor: Db | Tx,
    actor: ChatUserActor,
    id: string,
  ): Promise<{ user: UserRow; conversation: ConversationRow }> {
    const { user, found } = await findConversation(actor, id, executor)
    if (found === undefined) {
      throw notFound('conversation', id)
    }
    if (user === undefined || found.conversation.owner_user_id !== user.id) throw notOwner(id)
    return { user, conversation: found.conversation }
  }

  return {
    findUser,
    requireUser,
    findConversation,
    openConversation,
    requireParticipant,
    requireOwner,
  }
}

export function notParticipant(conversationId: string): ApiError {
  return new ApiError('Forbidden', `You are not a participant of conversation ${conversationId}.`)
}

export function notOwner(conversationId: string): ApiError {
  return new ApiError('Forbidden', `The conversation ${conversationId} is not yours.`)
}

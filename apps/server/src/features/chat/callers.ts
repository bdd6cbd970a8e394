import { ApiError } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import type { ConversationRow, ConversationsService } from '../conversations/conversations/index.js'
import { requireGoodKey, type UserRow, type UsersService } from '../conversations/users/index.js'

export interface CallersDeps {
  db: Db
  run: Run
  users: UsersService
  conversations: ConversationsService
}

export type Callers = ReturnType<typeof createCallers>

/** Who the holder of a key is, and what a conversation is to them. */
export function createCallers({ db, run, users, conversations }: CallersDeps) {
  /** The user of a key; undefined if there is none. Throws if the key is not good any more. */
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
      `There is no user ${actor.userKeyId}: make it with get-or-create.`,
    )
  }

  /** What a conversation is to the user of a key; a user who is unknown takes part in nothing. */
  async function look(actor: ChatUserActor, conversationId: string, executor: Db | Tx = db) {
    const { botId } = actor.chat
    const user = await findUser(executor, actor)
    const member = { botId, userId: user?.id ?? actor.userKeyId }
    return { user, member, found: await conversations.findFor(executor, member, conversationId) }
  }

  /**
   * Opens a conversation: the first user to open one that has no owner yet becomes its owner.
   * Undefined if there is no such conversation; throws `Forbidden` for those who take no part.
   */
  async function enter(
    actor: ChatUserActor,
    id: string,
  ): Promise<{ user: UserRow; conversation: ConversationRow } | undefined> {
    const { user, member, found } = await look(actor, id)
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

  /** A conversation of a participant; an unknown one is refused like one of others. */
  async function requirePart(
    actor: ChatUserActor,
    conversationId: string,
    executor: Db | Tx = db,
  ): Promise<{ user: UserRow; conversation: ConversationRow }> {
    const { user, found } = await look(actor, conversationId, executor)
    if (user === undefined || !found?.participates) throw notParticipant(conversationId)
    return { user, conversation: found.conversation }
  }

  /** A conversation of its owner. */
  async function requireOwned(
    executor: Db | Tx,
    actor: ChatUserActor,
    id: string,
  ): Promise<{ user: UserRow; conversation: ConversationRow }> {
    const { user, found } = await look(actor, id, executor)
    if (found === undefined) {
      throw new ApiError('ResourceNotFound', `There is no conversation ${id}.`)
    }
    if (user === undefined || found.conversation.owner_user_id !== user.id) throw notOwner(id)
    return { user, conversation: found.conversation }
  }

  return { findUser, requireUser, look, enter, requirePart, requireOwned }
}

export function notParticipant(conversationId: string): ApiError {
  return new ApiError('Forbidden', `You take part in no conversation ${conversationId}.`)
}

export function notOwner(conversationId: string): ApiError {
  return new ApiError('Forbidden', `The conversation ${conversationId} is not yours.`)
}

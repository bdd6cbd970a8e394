import { ApiError } from '@botstead/contract'
import type { ChatActor, ChatAddress, ChatUserActor } from '../../../domain/actor.js'
import type { Run } from '../../../platform/db/schema.js'
import { Frame } from '../../../platform/streams/frame.js'
import type { StartStream } from '../../../platform/streams/sink.js'
import type { ConversationsService } from '../../conversations/conversations/index.js'
import { publicIdOf, type UserRow, type UsersService } from '../../conversations/users/index.js'
import type { Listening, OpenedConversation } from '../listening.js'
import type { ConversationStreams } from '../streams/index.js'
import type { UserKeys } from '../user-keys.js'
import type { ConversationState } from './conversation-state.js'
import type { AdminCheck } from './secrets.js'

export interface InitializeDeps {
  run: Run
  keys: UserKeys
  users: Pick<UsersService, 'draft' | 'insert' | 'getOrCreate'>
  conversations: Pick<ConversationsService, 'open'>
  listening: Listening
  isAdmin: AdminCheck
  state: ConversationState
  streams: Pick<ConversationStreams, 'subscribe'>
}

/** What a call of `initialize` passes. */
export interface Opening {
  /** User key; undefined or empty if it has none. */
  key: string | undefined
  conversationId: string | undefined
  adminSecret: string | undefined
  /** Counts a new user of the address of the network; throws `RateLimited` if there are too many. */
  countNewUser(): void
}

/** A user with a valid key. */
interface Visitor {
  actor: ChatUserActor
  user: UserRow
  key: string
}

/**
 * Opens web chats. It creates what is missing, because the client of a web chat takes an error for a broken connection,
 * retries it, and keeps the key or id that was refused.
 */
export function createInitialize(deps: InitializeDeps) {
  const { run, keys, users, conversations, listening, isAdmin, state, streams } = deps

  /** The user of a key; undefined if the key is not valid and a new user is to be created. */
  async function findVisitor(chat: ChatAddress, key: string): Promise<Visitor | undefined> {
    try {
      const actor = await keys.verify(chat, key)
      const user = await users.getOrCreate(chat, actor.userKeyId, {}, actor.keyIssuedAt)
      return { actor, user, key }
    } catch (error) {
      const isStale =
        error instanceof ApiError && ['Unauthorized', 'InvalidPayload'].includes(error.type)
      // All chats of one origin share the storage of the browser: keys of other chats and of earlier servers arrive here.
      if (isStale && chat.encryptionKey === undefined) return undefined
      throw error
    }
  }

  async function createVisitor(chat: ChatAddress, opening: Opening): Promise<Visitor> {
    if (chat.encryptionKey !== undefined && !(await isAdmin(chat, opening.adminSecret))) {
      throw new ApiError(
        'Unauthorized',
        'This chat has an encryption key: a web chat needs a user key that is signed with it.',
      )
    }
    opening.countNewUser()
    const user = await run((tx) => users.insert(tx, users.draft(chat, undefined, {})))
    const key = await keys.sign(chat, publicIdOf(user), user.keys_revoked_at)
    return { actor: await keys.verify(chat, key), user, key }
  }

  /** The conversation with an id; undefined if the user takes no part in it, or there is none. */
  async function findConversation(
    { actor }: Visitor,
    id: string,
  ): Promise<OpenedConversation | undefined> {
    try {
      return await listening.open(actor, id)
    } catch (error) {
      if (error instanceof ApiError && error.type === 'Forbidden') return undefined
      throw error
    }
  }

  async function createConversation({ actor, user }: Visitor): Promise<OpenedConversation> {
    const { botId, alias } = actor.chat
    const owner = { botId, userId: user.id, alias }
    const conversation = await run((tx) => conversations.open(tx, owner, undefined, undefined))
    return { user, conversation }
  }

  /** Opens a stream that begins with the state of the conversation and continues with its events. */
  return async function initialize({ chat }: ChatActor, opening: Opening): Promise<StartStream> {
    const { key, conversationId: id } = opening
    const visitor = (key && (await findVisitor(chat, key))) || (await createVisitor(chat, opening))
    const opened =
      (id && (await findConversation(visitor, id))) || (await createConversation(visitor))
    // The position was read before the state: an event between the two is sent twice instead of being lost.
    const after = opened.conversation.last_sequence
    const { user, ...rest } = await state.read(opened)
    const data = { ...rest, user: { ...user, userKey: visitor.key } }
    const firstFrame = new Frame({ type: 'init', data }, undefined)
    return await listening.follow(streams, visitor.actor, opened, { after, firstFrame })
  }
}

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

/** How a web chat opens. */
export interface Opening {
  /** User key; undefined or empty if it has none. */
  key: string | undefined
  conversationId: string | undefined
  adminSecret: string | undefined
  /** Counts a new user; throws if there are too many. */
  countNewUser(): void
}

/** A user with a key that opens it. */
interface Visitor {
  actor: ChatUserActor
  user: UserRow
  key: string
}

/**
 * Opens web chats: whatever is missing is made, because the client of a web chat takes a refusal for a
 * broken connection, tries again and again, and keeps what was refused.
 */
export function createInitialize(deps: InitializeDeps) {
  const { run, keys, users, conversations, listening, isAdmin, state, streams } = deps

  /** The user of a key; undefined if the key opens none and a new user takes its place. */
  async function known(chat: ChatAddress, key: string): Promise<Visitor | undefined> {
    try {
      const actor = await keys.verify(chat, key)
      const user = await users.getOrCreate(chat, actor.userKeyId, {}, actor.keyIssuedAt)
      return { actor, user, key }
    } catch (error) {
      const isStale =
        error instanceof ApiError && ['Unauthorized', 'InvalidPayload'].includes(error.type)
      // Pages of one origin share a storage: keys of other chats and earlier servers do arrive.
      if (isStale && chat.encryptionKey === undefined) return undefined
      throw error
    }
  }

  async function newVisitor(chat: ChatAddress, opening: Opening): Promise<Visitor> {
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

  async function newConversation({ actor, user }: Visitor): Promise<OpenedConversation> {
    const { botId, alias } = actor.chat
    const owner = { botId, userId: user.id, alias }
    const conversation = await run((tx) => conversations.open(tx, owner, undefined, undefined))
    return { user, conversation }
  }

  /** Opens a stream that begins with the state of the conversation and goes on with what follows it. */
  return async function initialize({ chat }: ChatActor, opening: Opening): Promise<StartStream> {
    const { key, conversationId: id } = opening
    const visitor = (key && (await known(chat, key))) || (await newVisitor(chat, opening))
    const opened = (id && (await findConversation(visitor, id))) || (await newConversation(visitor))
    // The position was read before the state: what comes in between is sent twice and not missed.
    const after = opened.conversation.last_sequence
    const { user, ...rest } = await state.read(opened)
    const data = { ...rest, user: { ...user, userKey: visitor.key } }
    const greeting = new Frame({ type: 'init', data }, undefined)
    return await listening.follow(streams, visitor.actor, opened, { after, greeting })
  }
}

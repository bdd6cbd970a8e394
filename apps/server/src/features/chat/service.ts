import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { ChatActor, ChatUserActor } from '../../platform/actor.js'
import type { Clock } from '../../platform/clock.js'
import { decodeJson } from '../../platform/db/columns.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Remember } from '../../platform/idempotency/remember.js'
import type { Db, Run, Tx } from '../../schema.js'
import {
  type ConversationRow,
  type ConversationsService,
  type Place,
  publicIdOf as publicConversationId,
} from '../conversations/index.js'
import type { MessagesService } from '../messages/index.js'
import { publicIdOf as publicUserId, type UserRow, type UsersService } from '../users/index.js'
import { type ChatContent, toChatContent, toStoredContent } from './payload.js'
import type { UserKeys } from './user-keys.js'

type NewUser = Body<typeof contract.chat.createUser>
type UserProfile = Body<typeof contract.chat.getOrCreateUser>
type NewConversation = Body<typeof contract.chat.createConversation>
type NewMessage = Body<typeof contract.chat.createMessage>
type MessageQuery = Query<typeof contract.chat.listMessages>

/** A message as its participants know it: ids are the public ones. */
export interface ChatMessageRecord {
  id: string
  createdAt: string
  conversationId: string
  userId: string
  content: ChatContent
}

/** A user with the key by which it says who it is. */
export interface NewChatUser {
  user: UserRow
  key: string
}

export interface ChatDeps {
  db: Db
  run: Run
  clock: Clock
  pager: Pager
  users: UsersService
  conversations: ConversationsService
  messages: MessagesService
}

type KnownUser = Pick<UserRow, 'id' | 'foreign_id'>

const messagesPerPage = 50

export type ChatService = ReturnType<typeof createChatService>

export function createChatService(deps: ChatDeps & { keys: UserKeys }) {
  const { db, run, clock, pager, users, conversations, messages, keys } = deps
  /**
   * Which user a key belongs to, as long as authentication remembers the key. Another process may
   * have removed the user since: this only serves statements that check the user's part themselves.
   */
  const knownUsers = new WeakMap<ChatUserActor, KnownUser>()

  async function requireUser(executor: Db | Tx, actor: ChatUserActor): Promise<UserRow> {
    const user = await users.find(executor, actor.chat.botId, actor.userKeyId)
    if (user !== undefined) return user
    throw new ApiError(
      'ResourceNotFound',
      `There is no user ${actor.userKeyId}: make it with get-or-create.`,
    )
  }

  /** What a conversation is to the user of a key; a user who is unknown takes part in nothing. */
  async function look(actor: ChatUserActor, conversationId: string) {
    const { botId } = actor.chat
    const user = await users.find(db, botId, actor.userKeyId)
    const member = { botId, userId: user?.id ?? actor.userKeyId }
    return { user, member, found: await conversations.findFor(db, member, conversationId) }
  }

  /**
   * The author and the place of a new message. A participant who has written before costs one
   * statement; only when that finds nothing, the reason is looked for.
   */
  async function takePlace(
    tx: Tx,
    actor: ChatUserActor,
    conversationId: string,
  ): Promise<{ user: KnownUser; place: Place }> {
    const { botId } = actor.chat
    const now = clock.now()
    const known = knownUsers.get(actor)
    if (known !== undefined) {
      const place = await conversations.advance(
        tx,
        { botId, userId: known.id },
        conversationId,
        now,
      )
      if (place !== undefined) return { user: known, place }
    }
    const user = await users.find(tx, botId, actor.userKeyId)
    if (user === undefined) throw notParticipant(conversationId)
    const member = { botId, userId: user.id }
    await conversations.claim(tx, member, conversationId)
    const place = await conversations.advance(tx, member, conversationId, now)
    if (place === undefined) throw notParticipant(conversationId)
    knownUsers.set(actor, { id: user.id, foreign_id: user.foreign_id })
    return { user, place }
  }

  return {
    async createUser(
      { chat }: ChatActor,
      input: NewUser,
      remember: Remember<NewChatUser>,
    ): Promise<NewChatUser> {
      if (chat.encryptionKey !== undefined) {
        throw new ApiError(
          'Unauthorized',
          'This chat address has an encryption key: sign a user key with it and use get-or-create.',
        )
      }
      const { id, ...profile } = input
      const user = users.draft(chat, id, profile)
      const made = { user, key: await keys.sign(chat, publicUserId(user)) }
      return await run(async (tx) => {
        // Before the user: a repetition that runs at the same time must stumble over its key and
        // get the first answer, not over the id that the first one took.
        await remember?.(tx, made)
        await users.insert(tx, user)
        return made
      })
    },

    async getOrCreateUser(actor: ChatUserActor, profile: UserProfile): Promise<UserRow> {
      return await users.getOrCreate(actor.chat, actor.userKeyId, profile)
    },

    async getUser(actor: ChatUserActor): Promise<UserRow> {
      return await requireUser(db, actor)
    },

    async createConversation(
      actor: ChatUserActor,
      input: NewConversation,
      remember: Remember<ConversationRow>,
    ): Promise<ConversationRow> {
      const { botId, alias } = actor.chat
      return await run(async (tx) => {
        const user = await requireUser(tx, actor)
        const owner = { botId, userId: user.id, alias }
        return await conversations.open(tx, owner, input.id, remember)
      })
    },

    /** The first user to open a conversation that has no owner yet becomes its owner. */
    async getConversation(actor: ChatUserActor, id: string): Promise<ConversationRow> {
      const { user, member, found } = await look(actor, id)
      if (found === undefined) {
        throw new ApiError('ResourceNotFound', `There is no conversation ${id}.`)
      }
      if (found.participates) return found.conversation
      if (user === undefined || found.conversation.claimable === 0) throw notParticipant(id)
      return await run(async (tx) => {
        await conversations.claim(tx, member, id)
        const claimed = await conversations.findFor(tx, member, id)
        if (!claimed?.participates) throw notParticipant(id)
        return claimed.conversation
      })
    },

    /** Newest first. */
    async listMessages(
      actor: ChatUserActor,
      conversationId: string,
      query: MessageQuery,
    ): Promise<Page<ChatMessageRecord>> {
      const { member, found } = await look(actor, conversationId)
      if (!found?.participates) throw notParticipant(conversationId)
      const { conversation } = found
      const page = pager.page({
        operation: 'chatListMessages',
        scope: conversation.id,
        sort: 'created_at',
        direction: 'desc',
        nextToken: query.nextToken,
        pageSize: messagesPerPage,
      })
      const { rows, nextToken } = await messages.listOf(member.botId, conversation.id, page)
      const authors = await users.publicIds(
        member.botId,
        rows.map((row) => row.user_id),
      )
      return {
        rows: rows.map((row) => ({
          id: row.id,
          createdAt: row.created_at,
          conversationId: publicConversationId(conversation),
          userId: authors.get(row.user_id) ?? row.user_id,
          content: toChatContent({ type: row.type, payload: decodeJson(row.payload) }),
        })),
        nextToken,
      }
    },

    async createMessage(
      actor: ChatUserActor,
      input: NewMessage,
      remember: Remember<ChatMessageRecord>,
    ): Promise<ChatMessageRecord> {
      if ('metadata' in input.payload) {
        throw new ApiError(
          'InvalidPayload',
          'body.payload.metadata must stand beside the payload, as body.metadata.',
          { metadata: { in: 'body', field: 'payload.metadata' } },
        )
      }
      const { type, payload } = toStoredContent(input)
      const encoded = messages.encode(payload)
      return await run(async (tx) => {
        const { user, place } = await takePlace(tx, actor, input.conversationId)
        const message = await messages.append(tx, place, {
          botId: actor.chat.botId,
          userId: user.id,
          direction: 'incoming',
          type,
          payload: encoded,
        })
        const made: ChatMessageRecord = {
          id: message.id,
          createdAt: message.created_at,
          conversationId: publicConversationId(place),
          userId: publicUserId(user),
          content: input,
        }
        await remember?.(tx, made)
        return made
      })
    },
  }
}

function notParticipant(conversationId: string): ApiError {
  return new ApiError('Forbidden', `You take part in no conversation ${conversationId}.`)
}

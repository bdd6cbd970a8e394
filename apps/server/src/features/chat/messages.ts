import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import { encodePayload } from '../../domain/payload.js'
import { fieldError, notFound } from '../../domain/refusals.js'
import type { Clock } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Tx } from '../../platform/db/schema.js'
import { factLifetime } from '../../platform/fact-cache.js'
import type { Remember } from '../../platform/idempotency/store.js'
import {
  type MessageSlot,
  publicIdOf as publicConversationId,
} from '../conversations/conversations/index.js'
import type { MessagesService } from '../conversations/messages/index.js'
import { publicIdOf as publicUserId, type UserRow } from '../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notParticipant } from './access.js'
import type { ListenersOfAll } from './listeners-of-all.js'
import {
  type ChatContent,
  type ChatMessageRecord,
  toMessageRecord,
  toStoredContent,
} from './view.js'

type NewMessage = Body<typeof contract.chat.createMessage>
type ListQuery = Query<typeof contract.chat.listMessages>

export interface MessageOperationsDeps extends ChatAccessDeps {
  clock: Clock
  pager: Pager
  messages: MessagesService
  streams: ListenersOfAll
  /** Maximum bytes of the JSON of a payload. */
  maxPayloadBytes: number
}

interface KnownUser extends Pick<UserRow, 'id' | 'foreign_id'> {
  /** Value of `streams.revocations()` when the user was read. */
  revocations: number
  /** Milliseconds since the Unix epoch. */
  readAt: number
}

const perPage = 50

type MessageReaderDeps = Pick<MessageOperationsDeps, 'db' | 'pager'> & {
  messages: Pick<MessagesService, 'find' | 'listOf'>
}

/** Finds messages for users, in the shapes of no client yet. */
export function createMessageReader(
  { db, pager, messages }: MessageReaderDeps,
  access: ChatAccess,
) {
  /** A message, with what its conversation is to the user, who need not take part in it any more. */
  async function require(actor: ChatUserActor, id: string) {
    const message = await messages.find(db, actor.chat.botId, id)
    const looked = message && (await access.findConversation(actor, message.conversation_id))
    if (message === undefined || looked?.found === undefined) {
      throw notFound('message', id)
    }
    return { message, user: looked.user, found: looked.found }
  }

  return {
    require,

    /** A message of a conversation in which the user takes part. */
    async requireShown(actor: ChatUserActor, id: string) {
      const { message, user, found } = await require(actor, id)
      const conversationId = publicConversationId(found.conversation)
      if (user === undefined || !found.participates) throw notParticipant(conversationId)
      return { message, user, conversationId }
    },

    /** A page of the messages of a conversation, newest first. */
    async list(
      actor: ChatUserActor,
      operation: string,
      conversationId: string,
      { nextToken }: ListQuery,
    ) {
      const { conversation } = await access.requireParticipant(actor, conversationId)
      const page = pager.page({
        operation,
        scope: conversation.id,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize: perPage,
      })
      const found = await messages.listOf(actor.chat.botId, conversation.id, page)
      return { ...found, conversation }
    },
  }
}

/** Operations of users on messages. */
export function messageOperations(deps: MessageOperationsDeps, access: ChatAccess) {
  const { run, clock, users, conversations, messages, streams, maxPayloadBytes } = deps
  const reader = createMessageReader(deps, access)
  /**
   * The user of a key, cached for as long as authentication caches the key. Another process may
   * have deleted the user since, so this only serves statements that check the participation
   * themselves. A revocation or a ban clears it at once, by a hint; if the hint is lost, it expires
   * after some seconds.
   */
  const knownUsers = new WeakMap<ChatUserActor, KnownUser>()

  /**
   * The author and the position of a new message. One statement for a participant who has written
   * before; the reason for a refusal is read only when it finds nothing.
   */
  async function reserveSlot(
    tx: Tx,
    actor: ChatUserActor,
    conversationId: string,
  ): Promise<{ user: Pick<UserRow, 'id' | 'foreign_id'>; slot: MessageSlot }> {
    const { botId } = actor.chat
    const now = clock.now()
    const revocations = streams.revocations()
    const known = knownUsers.get(actor)
    if (
      known?.revocations === revocations &&
      now >= known.readAt &&
      now - known.readAt < factLifetime
    ) {
      const slot = await conversations.takeSlotOfParticipant(
        tx,
        { botId, userId: known.id },
        conversationId,
        now,
      )
      if (slot !== undefined) return { user: known, slot }
    }
    const user = await access.findUser(tx, actor)
    if (user === undefined) throw notParticipant(conversationId)
    const member = { botId, userId: user.id }
    await conversations.claim(tx, member, conversationId)
    const slot = await conversations.takeSlotOfParticipant(tx, member, conversationId, now)
    if (slot === undefined) throw notParticipant(conversationId)
    const { id, foreign_id } = user
    knownUsers.set(actor, { id, foreign_id, revocations, readAt: now })
    return { user, slot }
  }

  return {
    /** Newest first. */
    async listMessages(
      actor: ChatUserActor,
      conversationId: string,
      query: ListQuery,
    ): Promise<Page<ChatMessageRecord>> {
      const { rows, nextToken, conversation } = await reader.list(
        actor,
        'chatListMessages',
        conversationId,
        query,
      )
      const authors = await users.publicIds(
        actor.chat.botId,
        rows.map((row) => row.user_id),
      )
      const shownId = publicConversationId(conversation)
      return {
        rows: rows.map((row) =>
          toMessageRecord(row, shownId, authors.get(row.user_id) ?? row.user_id),
        ),
        nextToken,
      }
    },

    async createMessage(
      actor: ChatUserActor,
      input: NewMessage,
      remember: Remember<ChatMessageRecord>,
    ): Promise<ChatMessageRecord> {
      if ('metadata' in input.payload) {
        throw fieldError(
          'body.payload.metadata',
          'must stand beside the payload, as body.metadata.',
        )
      }
      const content: ChatContent = {
        payload: withReply(input.payload, input.replyTo),
        ...(input.metadata !== undefined && { metadata: input.metadata }),
      }
      const { type, payload } = toStoredContent(content)
      const encoded = encodePayload(payload, maxPayloadBytes)
      const profile = await messages.profileOf(actor.chat.botId)
      const { slot, made } = await run(async (tx) => {
        const { user, slot } = await reserveSlot(tx, actor, input.conversationId)
        const message = await messages.append(
          tx,
          slot,
          {
            botId: actor.chat.botId,
            userId: user.id,
            direction: 'incoming',
            type,
            payload: encoded,
          },
          profile,
        )
        const made: ChatMessageRecord = {
          id: message.id,
          createdAt: message.created_at,
          conversationId: publicConversationId(slot),
          userId: publicUserId(user),
          content,
        }
        await remember?.(tx, made)
        return { slot, made }
      })
      await streams.waitForListeners(slot.id, slot.last_sequence)
      return made
    },

    /** With its true author, for every caller. */
    async getMessage(actor: ChatUserActor, id: string): Promise<ChatMessageRecord> {
      const { message, conversationId } = await reader.requireShown(actor, id)
      const authors = await users.publicIds(actor.chat.botId, [message.user_id])
      return toMessageRecord(
        message,
        conversationId,
        authors.get(message.user_id) ?? message.user_id,
      )
    },

    /** Only its author may delete it, also after leaving the conversation. */
    async deleteMessage(actor: ChatUserActor, id: string): Promise<void> {
      const { message, user } = await reader.require(actor, id)
      if (user === undefined || message.user_id !== user.id) {
        throw new ApiError('Forbidden', `The message ${id} is not yours.`)
      }
      const position = await run((tx) => messages.remove(tx, message), { mayUseReserve: true })
      if (position) await streams.waitForListeners(message.conversation_id, position.sequence)
    },
  }
}

/** The message that a message answers is stored with its payload, where bots see it. */
export function withReply<Payload extends ChatContent['payload']>(
  payload: Payload,
  replyTo: string | undefined,
): Payload {
  return replyTo === undefined ? payload : { ...payload, replyTo }
}

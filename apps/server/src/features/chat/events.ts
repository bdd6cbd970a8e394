import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import { encodePayload } from '../../domain/payload.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { Remember } from '../../platform/idempotency/remember.js'
import type { Audience } from '../bots/bots/index.js'
import {
  type CustomEvent,
  news,
  publicIdOf as publicConversationId,
} from '../conversations/conversations/index.js'
import { publicIdOf as publicUserId } from '../conversations/users/index.js'
import { type Callers, type CallersDeps, notParticipant } from './callers.js'
import type { Listening } from './streams/index.js'

type NewEvent = Body<typeof contract.chat.createEvent>

/** A custom event as its participants know it. */
export interface ChatEventRecord {
  id: string
  createdAt: string
  conversationId: string
  userId: string
  payload: Record<string, unknown>
}

/** What the bot gets with a custom event: native ids. */
export interface CustomEventData {
  userId: string
  conversationId: string
  payload: Record<string, unknown>
}

/** Where custom events are kept and given to the bot. */
export interface CustomEvents {
  /** Who has to be told; from memory when it can be. */
  audienceOf(botId: string): Audience | Promise<Audience>
  /** Stores an event of the type `custom` in the transaction of its signal. */
  record(
    tx: Tx,
    audience: Audience,
    event: { botId: string; alias: string; data: CustomEventData },
  ): Promise<{ id: string; createdAt: string }>
  /** An event that a user of the installation has sent. */
  find(
    db: Db,
    botId: string,
    alias: string,
    id: string,
  ): Promise<{ createdAt: string; data: CustomEventData } | undefined>
}

export interface EventOperationsDeps extends CallersDeps {
  customEvents: CustomEvents
  /** Most bytes of a payload. */
  maxPayloadBytes: number
  listening: Pick<Listening, 'reached'>
}

/** What users and bots tell each other beside messages. */
export function eventOperations(deps: EventOperationsDeps, callers: Callers) {
  const { db, run, users, conversations, customEvents, maxPayloadBytes, listening } = deps

  return {
    async createEvent(
      actor: ChatUserActor,
      { conversationId, payload }: NewEvent,
      remember: Remember<ChatEventRecord>,
    ): Promise<ChatEventRecord> {
      encodePayload(payload, maxPayloadBytes)
      const { botId, alias } = actor.chat
      const audience = await customEvents.audienceOf(botId)
      const { place, made } = await run(async (tx) => {
        const { user, conversation } = await callers.requirePart(actor, conversationId, tx)
        // Before the event, which takes its place among what the bot is told: messages do the same.
        await conversations.hold(tx, { botId, id: conversation.id })
        const data = { userId: user.id, conversationId: conversation.id, payload }
        const event = await customEvents.record(tx, audience, { botId, alias, data })
        const shown: CustomEvent = {
          userId: publicUserId(user),
          isBot: false,
          createdAt: event.createdAt,
          payload,
        }
        const told = await conversations.tell(
          tx,
          { botId, id: conversation.id },
          { type: news.eventCreated, subjectId: event.id, data: shown },
        )
        if (told === undefined) throw notParticipant(conversationId)
        const made = {
          id: event.id,
          createdAt: event.createdAt,
          conversationId: publicConversationId(conversation),
          userId: publicUserId(user),
          payload,
        }
        await remember?.(tx, made)
        return { place: { id: conversation.id, sequence: told.sequence }, made }
      })
      await listening.reached(place.id, place.sequence)
      return made
    },

    /** With its true sender, whoever asks. */
    async getEvent(actor: ChatUserActor, id: string): Promise<ChatEventRecord> {
      const { botId, alias } = actor.chat
      const event = await customEvents.find(db, botId, alias, id)
      const looked = event && (await callers.look(actor, event.data.conversationId))
      if (event === undefined || looked?.found === undefined) {
        throw new ApiError('ResourceNotFound', `There is no event ${id}.`)
      }
      const { conversation, participates } = looked.found
      if (!participates) throw notParticipant(publicConversationId(conversation))
      const { userId, payload } = event.data
      const senders = await users.publicIds(botId, [userId])
      return {
        id,
        createdAt: event.createdAt,
        conversationId: publicConversationId(conversation),
        userId: senders.get(userId) ?? userId,
        payload,
      }
    },

    /**
     * Tells the participants of a conversation, by its native id, what the bot sends beside messages.
     * It is told and not stored as an event that could be fetched.
     */
    async sendEvent(
      botId: string,
      { conversationId, payload }: { conversationId: string; payload: Record<string, unknown> },
    ): Promise<void> {
      encodePayload(payload, maxPayloadBytes)
      const data: CustomEvent = { userId: botId, isBot: true, payload }
      const told = await run((tx) =>
        conversations.tell(
          tx,
          { botId, id: conversationId },
          { type: news.eventCreated, subjectId: '', data },
        ),
      )
      if (told === undefined) {
        throw new ApiError(
          'ResourceNotFound',
          `input.conversationId: there is no conversation ${conversationId}.`,
        )
      }
    },
  }
}

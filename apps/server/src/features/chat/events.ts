import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import { encodePayload } from '../../domain/payload.js'
import { notFound } from '../../domain/refusals.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { encodeJson } from '../../platform/db/columns.js'
import type { Remember } from '../../platform/idempotency/store.js'
import type { BotProfiles } from '../bots/bots/index.js'
import {
  type CustomEvent,
  conversationEvents,
  publicIdOf as publicConversationId,
} from '../conversations/conversations/index.js'
import type { EventsService } from '../conversations/events/index.js'
import { publicIdOf as publicUserId } from '../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notParticipant } from './access.js'
import type { ListenersOfAll } from './listeners-of-all.js'

type NewEvent = Body<typeof contract.chat.createEvent>

/** A custom event with public ids. */
export interface ChatEventRecord {
  id: string
  /** ISO 8601 time. */
  createdAt: string
  conversationId: string
  userId: string
  payload: Record<string, unknown>
}

/** The payload of a custom event for the bot, with native ids. */
interface CustomEventData {
  userId: string
  conversationId: string
  payload: Record<string, unknown>
}

export interface EventOperationsDeps extends ChatAccessDeps {
  /** Stores custom events as bot events `custom` of the installation. */
  events: Pick<EventsService, 'record' | 'find'>
  botProfiles: Pick<BotProfiles, 'of'>
  /** Maximum bytes of a payload. */
  maxPayloadBytes: number
  streams: Pick<ListenersOfAll, 'waitForListeners'>
  clock: Clock
}

/** Operations on custom events, which users and bots send each other. */
export function eventOperations(deps: EventOperationsDeps, access: ChatAccess) {
  const { db, run, clock, users, conversations, events, botProfiles, maxPayloadBytes, streams } =
    deps

  return {
    async createEvent(
      actor: ChatUserActor,
      { conversationId, payload, bindConversation = true, bindUser = true }: NewEvent,
      remember: Remember<ChatEventRecord>,
    ): Promise<ChatEventRecord> {
      encodePayload(payload, maxPayloadBytes)
      const { botId, alias } = actor.chat
      const profile = await botProfiles.of(botId)
      const { position, made } = await run(async (tx) => {
        const { user, conversation } = await access.requireParticipant(actor, conversationId, tx)
        // Before the event, which joins the queue of deliveries to the bot: messages lock in the
        // same order.
        const held = await conversations.hold(tx, { botId, id: conversation.id })
        const isStart = isConversationStart(payload)
        const started = isStart ? held?.start_event_id : null
        if (started) {
          const made: ChatEventRecord = {
            id: started,
            createdAt: isoTime(clock.now()),
            conversationId: publicConversationId(conversation),
            userId: publicUserId(user),
            payload: withInitial(payload, false),
          }
          await remember?.(tx, made)
          return { position: undefined, made }
        }
        const data = { userId: user.id, conversationId: conversation.id, payload }
        const event = await events.record(tx, profile, {
          botId,
          integration: alias,
          type: isStart ? startEventOf(alias) : customEventOf(alias),
          payload: encodeJson(data),
          ...(bindConversation && { conversationId: data.conversationId }),
          ...(bindUser && { userId: data.userId }),
        })
        if (isStart) {
          await conversations.markStarted(tx, { botId, id: conversation.id }, event.id)
        }
        const shown: CustomEvent = {
          userId: publicUserId(user),
          isBot: false,
          createdAt: event.created_at,
          payload,
        }
        const appended = await conversations.appendEvent(
          tx,
          { botId, id: conversation.id },
          { type: conversationEvents.eventCreated, subjectId: event.id, data: shown },
        )
        if (appended === undefined) throw notParticipant(conversationId)
        const made = {
          id: event.id,
          createdAt: event.created_at,
          conversationId: publicConversationId(conversation),
          userId: publicUserId(user),
          payload: isStart ? withInitial(payload, true) : payload,
        }
        await remember?.(tx, made)
        return { position: { id: conversation.id, sequence: appended.sequence }, made }
      })
      if (position) await streams.waitForListeners(position.id, position.sequence)
      return made
    },

    /** With its true sender, for every caller. */
    async getEvent(actor: ChatUserActor, id: string): Promise<ChatEventRecord> {
      const { botId, alias } = actor.chat
      const found = await events.find(db, botId, id)
      const types = [customEventOf(alias), startEventOf(alias)]
      const data = found && types.includes(found.row.type) ? found.payload : undefined
      const event = data !== undefined && isCustomEvent(data) ? data : undefined
      const seen = event && (await access.findConversation(actor, event.conversationId))
      if (found === undefined || event === undefined || seen?.found === undefined) {
        throw notFound('event', id)
      }
      const { conversation, participates } = seen.found
      if (!participates) throw notParticipant(publicConversationId(conversation))
      const { userId, payload } = event
      const senders = await users.publicIds(botId, [userId])
      return {
        id,
        createdAt: found.row.created_at,
        conversationId: publicConversationId(conversation),
        userId: senders.get(userId) ?? userId,
        payload,
      }
    },

    /**
     * Sends a custom event of the bot to the participants of a conversation, named by its native
     * id. It is not stored and cannot be fetched later.
     */
    async sendEvent(
      botId: string,
      { conversationId, payload }: { conversationId: string; payload: Record<string, unknown> },
    ): Promise<void> {
      encodePayload(payload, maxPayloadBytes)
      const data: CustomEvent = { userId: botId, isBot: true, payload }
      const appended = await run((tx) =>
        conversations.appendEvent(
          tx,
          { botId, id: conversationId },
          { type: conversationEvents.eventCreated, subjectId: '', data },
        ),
      )
      if (appended === undefined) {
        throw new ApiError(
          'ResourceNotFound',
          `input.conversationId: there is no conversation ${conversationId}.`,
        )
      }
    },
  }
}

/** Type of the custom events of an installation. */
function customEventOf(alias: string): string {
  return `${alias}:custom`
}

/** Type of the event that a web chat was opened. */
function startEventOf(alias: string): string {
  return `${alias}:conversationStarted`
}

/** Whether the payload is what web chats send each time they open a conversation. */
function isConversationStart({ type, data }: Record<string, unknown>): boolean {
  return type === 'conversation_started' && isObject(data)
}

/** The payload as web chats expect it back: with whether the bot heard of it. */
function withInitial(payload: Record<string, unknown>, isInitial: boolean) {
  const data = isObject(payload.data) ? payload.data : {}
  const status = isObject(data.status) ? data.status : {}
  return { ...payload, data: { ...data, status: { ...status, isInitial } } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Integrations may create events of this type with other payloads. */
function isCustomEvent(value: object): value is CustomEventData {
  const { userId, conversationId, payload }: Partial<Record<string, unknown>> = { ...value }
  return (
    typeof userId === 'string' &&
    typeof conversationId === 'string' &&
    typeof payload === 'object' &&
    payload !== null
  )
}

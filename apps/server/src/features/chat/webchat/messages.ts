import { ApiError, type Body, type contract, type Params, type Query } from '@botstead/contract'
import type { ChatUserActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { notFound } from '../../../domain/refusals.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import { publicIdOf as publicConversationId } from '../../conversations/conversations/index.js'
import type { EventsService } from '../../conversations/events/index.js'
import type { MessageRow, MessagesService } from '../../conversations/messages/index.js'
import type { ChatAccess, ChatAccessDeps } from '../access.js'
import type { ListenersOfAll } from '../listeners-of-all.js'
import { createMessageReader, withReply } from '../messages.js'
import { toStoredContent } from '../view.js'
import type { ConversationState } from './conversation-state.js'
import { deleteFeedback, putFeedback } from './feedback-store.js'
import type { WebchatMessage } from './shapes.js'

type ListQuery = Query<typeof contract.webchat.listMessages>
type Path = Params<typeof contract.webchat.updateMessage>
type Change = Body<typeof contract.webchat.updateMessage>
type Feedback = Body<typeof contract.webchat.addFeedback>

export interface WebchatMessagesDeps extends ChatAccessDeps {
  clock: Clock
  pager: Pager
  messages: Pick<MessagesService, 'find' | 'listOf' | 'replacePayload' | 'logUpdate'>
  events: Pick<EventsService, 'record'>
  botProfiles: Pick<BotProfiles, 'of'>
  streams: ListenersOfAll
  /** Maximum bytes of the JSON of a payload. */
  maxPayloadBytes: number
}

/** The operations of web chats on messages: reading them in their shapes, changing and rating them. */
export function createWebchatMessages(
  deps: WebchatMessagesDeps,
  access: ChatAccess,
  state: ConversationState,
) {
  const { run, clock, conversations, messages, events, botProfiles, streams } = deps
  const reader = createMessageReader(deps, access)

  async function describe(row: MessageRow, conversationId: string): Promise<WebchatMessage> {
    const [described] = await state.describe(row.bot_id, [row], conversationId)
    if (described === undefined) throw new Error('One message has one description')
    return described
  }

  /** Records the event that notifies the bot of a feedback; its `value` is null when the feedback was removed. */
  async function recordFeedback(
    tx: Tx,
    profile: BotProfile,
    actor: ChatUserActor,
    { message, userId }: { message: MessageRow; userId: string },
    feedback: { value: string | null; comment?: string | undefined },
  ) {
    const { botId, alias } = actor.chat
    const { id: messageId, conversation_id: conversationId } = message
    const payload = { userId, conversationId, messageId, ...feedback }
    await events.record(tx, profile, {
      botId,
      integration: alias,
      type: `${alias}:messageFeedback`,
      payload: encodeJson(payload),
      conversationId,
      userId,
    })
  }

  /** Appends an update of the message to the log, which locks the conversation and notifies its listeners. */
  async function logUpdate(tx: Tx, message: MessageRow) {
    const position = await messages.logUpdate(tx, message)
    if (position !== undefined) return position
    throw notFound('message', message.id)
  }

  return {
    /** Newest first. */
    async list(
      actor: ChatUserActor,
      conversationId: string,
      query: ListQuery,
    ): Promise<Page<WebchatMessage>> {
      const { rows, nextToken, conversation } = await reader.list(
        actor,
        'webchatListMessages',
        conversationId,
        query,
      )
      return {
        rows: await state.describe(conversation.bot_id, rows, publicConversationId(conversation)),
        nextToken,
      }
    },

    async get(actor: ChatUserActor, id: string): Promise<WebchatMessage> {
      const { message, conversationId } = await reader.requireShown(actor, id)
      return await describe(message, conversationId)
    },

    /** Changes a message of the user. */
    async update(actor: ChatUserActor, { id }: Path, change: Change): Promise<WebchatMessage> {
      const { message, user, conversationId } = await reader.requireShown(actor, id)
      if (message.user_id !== user.id) {
        throw new ApiError('Forbidden', `The message ${id} is not yours.`)
      }
      const before = decodeJson<Record<string, unknown>>(message.payload)
      const { metadata = before.metadata } = change
      const { replyTo } = before
      const { type, payload } = toStoredContent({
        payload: withReply(change.payload, typeof replyTo === 'string' ? replyTo : undefined),
        ...(isObject(metadata) && { metadata }),
      })
      const encoded = encodePayload(payload, deps.maxPayloadBytes)
      const changed = await run((tx) => messages.replacePayload(tx, message, type, encoded))
      const { sequence } = changed.position ?? { sequence: 0 }
      await streams.waitForListeners(message.conversation_id, sequence)
      return await describe(changed.message, conversationId)
    },

    async addFeedback(actor: ChatUserActor, id: string, feedback: Feedback): Promise<void> {
      const { message, user } = await reader.requireShown(actor, id)
      // Before the transaction, in which nothing else may be read.
      const profile = await botProfiles.of(actor.chat.botId)
      const position = await run(async (tx) => {
        const logged = await logUpdate(tx, message)
        await putFeedback(tx, {
          message_id: message.id,
          bot_id: message.bot_id,
          conversation_id: message.conversation_id,
          user_id: user.id,
          value: feedback.value,
          comment: feedback.comment ?? null,
          created_at: isoTime(clock.now()),
        })
        await recordFeedback(tx, profile, actor, { message, userId: user.id }, feedback)
        return logged
      })
      await streams.waitForListeners(message.conversation_id, position.sequence)
    },

    async removeFeedback(actor: ChatUserActor, id: string): Promise<void> {
      const { message, user } = await reader.requireShown(actor, id)
      const profile = await botProfiles.of(actor.chat.botId)
      await run(
        async (tx) => {
          const { bot_id: botId, conversation_id } = message
          await conversations.hold(tx, { botId, id: conversation_id })
          if (!(await deleteFeedback(tx, botId, message.id))) return
          await logUpdate(tx, message)
          await recordFeedback(tx, profile, actor, { message, userId: user.id }, { value: null })
        },
        { mayUseReserve: true },
      )
    },
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

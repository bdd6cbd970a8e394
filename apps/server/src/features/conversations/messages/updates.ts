import { ApiError } from '@botstead/contract'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import {
  type ConversationsService,
  conversationEvents,
  type EventPosition,
} from '../conversations/index.js'
import * as store from './store.js'

interface UpdatesDeps {
  clock: Clock
  conversations: Pick<ConversationsService, 'appendEvent' | 'hold'>
}

/** Changes of messages that the listeners of their conversations hear of. */
export function createUpdates({ clock, conversations }: UpdatesDeps) {
  /** Tells the listeners of the conversation that a message changed; undefined if there is no conversation. */
  async function logUpdate(
    tx: Tx,
    {
      id,
      bot_id: botId,
      conversation_id,
    }: Pick<store.MessageRow, 'id' | 'bot_id' | 'conversation_id'>,
  ): Promise<EventPosition | undefined> {
    return await conversations.appendEvent(
      tx,
      { botId, id: conversation_id },
      { type: conversationEvents.messageUpdated, subjectId: id },
    )
  }

  /** Replaces the payload of a message of a chat user, from `encodePayload`, and logs it. */
  async function replacePayload(
    tx: Tx,
    message: store.MessageRow,
    type: string,
    payload: string,
  ): Promise<{ message: store.MessageRow; position: EventPosition | undefined }> {
    const { id, bot_id: botId, conversation_id } = message
    await conversations.hold(tx, { botId, id: conversation_id })
    if ((await store.lockMessage(tx, botId, id)) === undefined) {
      throw new ApiError('ResourceNotFound', `There is no message ${id}.`)
    }
    const next = { type, payload, updated_at: isoTime(clock.now()) }
    await store.patchMessage(tx, botId, id, next)
    return { message: { ...message, ...next }, position: await logUpdate(tx, message) }
  }

  return { logUpdate, replacePayload }
}

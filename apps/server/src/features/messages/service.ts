import { ApiError } from '@botstead/contract'
import { isoTime } from '../../platform/clock.js'
import { encodeJson } from '../../platform/db/columns.js'
import type { Page, PageRequest } from '../../platform/db/paginate.js'
import { purge } from '../../platform/db/purge.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import type { Ids } from '../../platform/ids.js'
import type { Db, Run, Tx } from '../../schema.js'
import { type ConversationsService, news, type Place, type Told } from '../conversations/index.js'
import * as store from './store.js'

/** A message in the shape in which bots and integrations see it. */
export interface NewMessage {
  botId: string
  /** Native id of the author, or the id of the bot. */
  userId: string
  direction: store.MessageRow['direction']
  type: string
  /** Content as JSON text, from {@link MessagesService.encode}. */
  payload: string
}

export interface MessagesDeps {
  db: Db
  run: Run
  ids: Ids
  events: EventPublisher
  conversations: Pick<ConversationsService, 'tell'>
  /** Most bytes of a payload. */
  maxPayloadBytes: number
}

export type MessagesService = ReturnType<typeof createMessagesService>

export function createMessagesService(deps: MessagesDeps) {
  const { db, run, ids, events, conversations, maxPayloadBytes } = deps
  return {
    /** The stored form of a payload. Throws `LimitExceeded` if it is too large. */
    encode(payload: Record<string, unknown>): string {
      const text = encodeJson(payload)
      // No character of JavaScript takes more than three bytes, so short texts need no counting.
      if (text.length * 3 > maxPayloadBytes && Buffer.byteLength(text) > maxPayloadBytes) {
        throw new ApiError(
          'LimitExceeded',
          `body.payload must have at most ${maxPayloadBytes} bytes of JSON, with its metadata.`,
          { metadata: { in: 'body', field: 'payload' } },
        )
      }
      return text
    },

    /** Puts a message into its place and writes the event that tells of it. */
    async append(tx: Tx, place: Place, message: NewMessage): Promise<store.MessageRow> {
      const createdAt = isoTime(place.last_message_at)
      const row: store.MessageRow = {
        id: ids.next('msg'),
        bot_id: message.botId,
        conversation_id: place.id,
        user_id: message.userId,
        type: message.type,
        payload: message.payload,
        direction: message.direction,
        tags: null,
        sequence: place.last_sequence,
        created_at: createdAt,
        updated_at: null,
      }
      await store.insertMessage(tx, row)
      await events.publish(tx, {
        stream: place.id,
        sequence: place.last_sequence,
        botId: message.botId,
        type: news.messageCreated,
        subjectId: row.id,
        createdAt,
      })
      return row
    },

    /** The message with this id. */
    async find(
      executor: Db | Tx,
      botId: string,
      id: string,
    ): Promise<store.MessageRow | undefined> {
      return await store.findMessage(executor, botId, id)
    },

    /** Those of some messages that are still there. */
    async findAll(botId: string, ids: readonly string[]): Promise<store.MessageRow[]> {
      return await store.listMessages(db, botId, ids)
    },

    /** Removes a message for good and tells of it. Throws `ResourceNotFound` if somebody was faster. */
    async remove(tx: Tx, message: store.MessageRow): Promise<Told | undefined> {
      const { id, bot_id: botId, conversation_id, user_id } = message
      // The number first: everything that happens in a conversation waits for it in the same order.
      const told = await conversations.tell(
        tx,
        { botId, id: conversation_id },
        { type: news.messageDeleted, subjectId: id, data: { userId: user_id } },
        1,
      )
      if (await store.deleteMessage(tx, botId, id)) return told
      throw new ApiError('ResourceNotFound', `There is no message ${id}.`)
    },

    /** Removes some messages of a conversation; answers how many, at most `limit`. */
    async removeSome(
      tx: Tx,
      botId: string,
      conversationId: string,
      limit: number,
    ): Promise<number> {
      return await store.deleteSomeMessages(tx, botId, [conversationId], limit)
    },

    /** Messages of a conversation; the page says in which order. */
    async listOf(
      botId: string,
      conversationId: string,
      page: PageRequest<'created_at'>,
    ): Promise<Page<store.MessageRow>> {
      return await store.pageMessages(db, botId, conversationId, page)
    },

    /** Removes all messages of some conversations, by native id. */
    async purge(botId: string, conversationIds: readonly string[]): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeMessages(tx, botId, conversationIds, limit))
    },
  }
}

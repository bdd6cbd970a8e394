import { ApiError } from '@botstead/contract'
import { isoTime } from '../../platform/clock.js'
import { encodeJson } from '../../platform/db/columns.js'
import type { Page, PageRequest } from '../../platform/db/paginate.js'
import { purge } from '../../platform/db/purge.js'
import { appendEvent } from '../../platform/events/append.js'
import type { Ids } from '../../platform/ids.js'
import type { Db, Run, Tx } from '../../schema.js'
import type { Place } from '../conversations/index.js'
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
  /** Most bytes of a payload. */
  maxPayloadBytes: number
}

/** Type of the event that tells of a new message; its subject is the message. */
const messageCreated = 'message_created'

export type MessagesService = ReturnType<typeof createMessagesService>

export function createMessagesService({ db, run, ids, maxPayloadBytes }: MessagesDeps) {
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
      await appendEvent(tx, {
        stream: place.id,
        sequence: place.last_sequence,
        botId: message.botId,
        type: messageCreated,
        subjectId: row.id,
        createdAt,
      })
      return row
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

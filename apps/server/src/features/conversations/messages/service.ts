import { ApiError } from '@botstead/contract'
import { encodePayload } from '../../../domain/payload.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { EventPublisher } from '../../../platform/events/publisher.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Audience, Audiences } from '../../bots/bots/index.js'
import { type ConversationsService, news, type Place, type Told } from '../conversations/index.js'
import type { EventsService } from '../events/index.js'
import type { Changes } from '../object-changes/index.js'
import { deleteTags } from '../tags/index.js'
import type { UsersService } from '../users/index.js'
import { messageDispatch } from './dispatch.js'
import { importedMessages } from './import.js'
import { runtimeMessages } from './runtime.js'
import { scheduledMessages } from './scheduled.js'
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
  /** JSON map of strings, as they are stored; null or left out when there are none. */
  tags?: string | null
  origin?: store.MessageRow['origin']
  /** Id that was given to it before it had its place. */
  id?: string
}

export interface MessagesDeps {
  db: Db
  run: Run
  ids: Ids
  events: EventPublisher
  clock: Clock
  queue: Queue
  dialect: Dialect
  pager: Pager
  audiences: Audiences
  domainEvents: Pick<EventDispatcher, 'raise'>
  botEvents: Pick<EventsService, 'record'>
  changes: Pick<Changes, 'note'>
  users: UsersService
  conversations: ConversationsService
  /** Most bytes of a payload. */
  maxPayloadBytes: number
}

export type MessagesService = ReturnType<typeof createMessagesService>

export function createMessagesService(deps: MessagesDeps) {
  const { db, run, ids, events, conversations, maxPayloadBytes } = deps
  const dispatch = messageDispatch(deps)

  /** Puts a message into its place, writes the event that tells of it and has it delivered. */
  async function append(
    tx: Tx,
    place: Place,
    message: NewMessage,
    audience: Audience,
  ): Promise<store.MessageRow> {
    const createdAt = isoTime(place.last_message_at)
    const row: store.MessageRow = {
      id: message.id ?? ids.next('msg'),
      bot_id: message.botId,
      conversation_id: place.id,
      user_id: message.userId,
      type: message.type,
      payload: message.payload,
      direction: message.direction,
      tags: message.tags ?? null,
      origin: message.origin ?? null,
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
    const work = dispatch(tx, audience, place, row)
    if (work !== undefined) await work
    return row
  }

  async function remove(tx: Tx, message: store.MessageRow): Promise<Told | undefined> {
    const { id, bot_id: botId, conversation_id, user_id } = message
    // The number first: everything that happens in a conversation waits for it in the same order.
    const told = await conversations.tell(
      tx,
      { botId, id: conversation_id },
      { type: news.messageDeleted, subjectId: id, data: { userId: user_id } },
      1,
    )
    if (!(await store.deleteMessage(tx, botId, id))) {
      throw new ApiError('ResourceNotFound', `There is no message ${id}.`)
    }
    if (message.tags !== null) await deleteTags(tx, botId, [id])
    return told
  }

  const runtime = runtimeMessages(deps, append, remove)

  return {
    ...runtime,
    ...importedMessages(deps, runtime),
    ...scheduledMessages(deps, append),

    append,

    /** Who has to be told of messages; from memory when it can be. */
    audienceOf: (botId: string) => deps.audiences.of(botId),

    /** The stored form of a payload. Throws `LimitExceeded` if it is too large. */
    encode(payload: Record<string, unknown>): string {
      return encodePayload(payload, maxPayloadBytes)
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
    remove,

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

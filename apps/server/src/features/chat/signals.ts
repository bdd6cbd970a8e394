import type { StoredEvent } from '../../platform/events/read.js'
import { createLruCache } from '../../platform/lru-cache.js'
import { Frame } from '../../platform/streams/frame.js'
import { type CustomEvent, conversationEvents } from '../conversations/conversations/index.js'
import type { MessageRow, MessagesService } from '../conversations/messages/index.js'
import type { UsersService } from '../conversations/users/index.js'
import { streamIdIn } from './message-streams.js'
import {
  type Entry,
  type FollowedConversation,
  type Piece,
  type Render,
  toSignal,
} from './streams/index.js'
import { toMessage, toMessageRecord } from './view.js'

export interface SignalsDeps {
  messages: Pick<MessagesService, 'findAll'>
  users: Pick<UsersService, 'publicIds'>
}

/** The data that an event is rendered from. */
interface Facts {
  conversation: FollowedConversation
  event: StoredEvent
  /** Undefined if the event is not about a message, or the message is gone. */
  message: MessageRow | undefined
  /** The public id of a user. */
  publicIdOf(userId: string): string
}

type Rendered = Pick<Entry, 'frames' | 'removed' | 'last' | 'piece' | 'finished'>

/** Maximum number of cached public ids: they never change while the user exists. */
const maxPublicIds = 50_000
const noFrames: Rendered = { frames: [] }

/** Renders events of the log as the signals for listeners. */
export function createRender({ messages, users }: SignalsDeps): Render {
  const publicIds = createLruCache<string, string>(maxPublicIds)

  async function loadPublicIds(botId: string, userIds: Iterable<string>): Promise<void> {
    const unknown = [...new Set(userIds)].filter((id) => id !== botId && !publicIds.has(id))
    if (unknown.length === 0) return
    for (const [id, publicId] of await users.publicIds(botId, unknown)) publicIds.set(id, publicId)
  }

  return async (conversation, events) => {
    const ids = events.flatMap((event) =>
      event.type === conversationEvents.messageCreated ? [event.subjectId] : [],
    )
    const rows = ids.length === 0 ? [] : await messages.findAll(conversation.botId, ids)
    const byId = new Map(rows.map((row) => [row.id, row]))
    await loadPublicIds(conversation.botId, [
      ...rows.map((row) => row.user_id),
      ...events.flatMap(authorOf),
    ])
    return events.map((event) => ({
      sequence: event.sequence,
      at: Date.parse(event.createdAt),
      ...renderEvent({
        conversation,
        event,
        message: byId.get(event.subjectId),
        publicIdOf: (userId) => publicIds.get(userId) ?? userId,
      }),
    }))
  }
}

function renderEvent(facts: Facts): Rendered {
  const { conversation, event } = facts
  const conversationId = conversation.publicId
  const frame = (type: string, data: object) => new Frame({ type, data }, event.sequence)
  switch (event.type) {
    case conversationEvents.messageCreated:
      return facts.message === undefined ? noFrames : renderMessage(facts, facts.message)
    case conversationEvents.messageDeleted: {
      const [author = ''] = authorOf(event)
      const data = { id: event.subjectId, conversationId, userId: facts.publicIdOf(author) }
      return { frames: [frame(conversationEvents.messageDeleted, data)] }
    }
    case conversationEvents.eventCreated:
      return renderCustomEvent(facts)
    case conversationEvents.participantAdded:
    case conversationEvents.participantRemoved: {
      const { participantId } = event.data as { participantId: string }
      const isEnd = event.type === conversationEvents.participantRemoved
      return {
        frames: [frame(event.type, { conversationId, participantId })],
        ...(isEnd && { removed: event.subjectId }),
      }
    }
    case conversationEvents.streamDelta: {
      // Emptied after the message was complete: see the sweep of message streams.
      if (event.data === undefined) return noFrames
      const piece = event.data as Piece
      const { type, data } = toSignal(conversation, piece)
      return { frames: [frame(type, data)], piece }
    }
    case conversationEvents.streamAborted: {
      const data = { streamId: event.subjectId, conversationId }
      return { frames: [frame(conversationEvents.streamAborted, data)], finished: event.subjectId }
    }
    case conversationEvents.conversationDeleted:
      return { frames: [], last: true }
    default:
      // Written by a newer version of the server that shares the database.
      return noFrames
  }
}

function renderMessage({ conversation, event, publicIdOf }: Facts, row: MessageRow): Rendered {
  const message = toMessage(toMessageRecord(row, conversation.publicId, publicIdOf(row.user_id)))
  const isBot = row.direction === 'outgoing'
  const created = { type: conversationEvents.messageCreated, data: { ...message, isBot } }
  const frames = [new Frame(created, event.sequence)]
  const streamId = isBot ? streamIdIn(message.metadata) : undefined
  if (streamId === undefined) return { frames }
  const complete = { type: 'message_stream_complete', data: { streamId, message } }
  // Without a sequence number: a client that got only this frame must still get the message.
  return { frames: [new Frame(complete, undefined), ...frames], finished: streamId }
}

function renderCustomEvent({ conversation, event }: Facts): Rendered {
  if (event.data === undefined) return noFrames
  const { userId, isBot, createdAt, payload } = event.data as CustomEvent
  const data = {
    id: event.subjectId === '' ? null : event.subjectId,
    createdAt: createdAt ?? event.createdAt,
    conversationId: conversation.publicId,
    userId,
    payload,
    isBot,
  }
  return { frames: [new Frame({ type: conversationEvents.eventCreated, data }, event.sequence)] }
}

function authorOf({ type, data }: StoredEvent): string[] {
  return type === conversationEvents.messageDeleted ? [(data as { userId: string }).userId] : []
}

import { LRUCache } from 'lru-cache'
import type { StoredEvent } from '../../platform/events/read.js'
import { Frame } from '../../platform/streams/frame.js'
import { type CustomEvent, news } from '../conversations/conversations/index.js'
import type { MessageRow, MessagesService } from '../conversations/messages/index.js'
import type { UsersService } from '../conversations/users/index.js'
import { streamIdIn } from './message-streams.js'
import { toRecord } from './messages.js'
import { type Entry, type Piece, type Render, type Room, toSignal } from './streams/index.js'
import { toMessage } from './view.js'

export interface SignalsDeps {
  messages: Pick<MessagesService, 'findAll'>
  users: Pick<UsersService, 'publicIds'>
}

/** What an event is told with. */
interface Facts {
  room: Room
  event: StoredEvent
  /** Undefined if the event is not about a message, or the message is gone. */
  message: MessageRow | undefined
  /** Id under which participants know a user. */
  shown(userId: string): string
}

type Told = Pick<Entry, 'frames' | 'removed' | 'last' | 'piece' | 'finished'>

/** Users whose shown ids are remembered: these never change as long as the user is there. */
const maxKnown = 50_000
const nothing: Told = { frames: [] }

/** Turns the log of conversations into the signals that listeners get. */
export function createRender({ messages, users }: SignalsDeps): Render {
  const known = new LRUCache<string, string>({ max: maxKnown })

  async function learn(botId: string, userIds: Iterable<string>): Promise<void> {
    const unknown = [...new Set(userIds)].filter((id) => id !== botId && !known.has(id))
    if (unknown.length === 0) return
    for (const [id, shown] of await users.publicIds(botId, unknown)) known.set(id, shown)
  }

  return async (room, events) => {
    const ids = events.flatMap((event) =>
      event.type === news.messageCreated ? [event.subjectId] : [],
    )
    const rows = ids.length === 0 ? [] : await messages.findAll(room.botId, ids)
    const byId = new Map(rows.map((row) => [row.id, row]))
    await learn(room.botId, [...rows.map((row) => row.user_id), ...events.flatMap(authorOf)])
    return events.map((event) => ({
      sequence: event.sequence,
      at: Date.parse(event.createdAt),
      ...tell({
        room,
        event,
        message: byId.get(event.subjectId),
        shown: (userId) => known.get(userId) ?? userId,
      }),
    }))
  }
}

function tell(facts: Facts): Told {
  const { room, event } = facts
  const conversationId = room.publicId
  const frame = (type: string, data: object) => new Frame({ type, data }, event.sequence)
  switch (event.type) {
    case news.messageCreated:
      return facts.message === undefined ? nothing : tellMessage(facts, facts.message)
    case news.messageDeleted: {
      const [author = ''] = authorOf(event)
      const data = { id: event.subjectId, conversationId, userId: facts.shown(author) }
      return { frames: [frame(news.messageDeleted, data)] }
    }
    case news.eventCreated:
      return tellEvent(facts)
    case news.participantAdded:
    case news.participantRemoved: {
      const { participantId } = event.data as { participantId: string }
      const isEnd = event.type === news.participantRemoved
      return {
        frames: [frame(event.type, { conversationId, participantId })],
        ...(isEnd && { removed: event.subjectId }),
      }
    }
    case news.streamDelta: {
      // Emptied when the message was long done: see the sweep of streams.
      if (event.data === undefined) return nothing
      const piece = event.data as Piece
      const { type, data } = toSignal(room, piece)
      return { frames: [frame(type, data)], piece }
    }
    case news.streamAborted: {
      const data = { streamId: event.subjectId, conversationId }
      return { frames: [frame(news.streamAborted, data)], finished: event.subjectId }
    }
    case news.conversationDeleted:
      return { frames: [], last: true }
    default:
      // Written by a newer version of the server that shares the database.
      return nothing
  }
}

function tellMessage({ room, event, shown }: Facts, row: MessageRow): Told {
  const message = toMessage(toRecord(row, room.publicId, shown(row.user_id)))
  const isBot = row.direction === 'outgoing'
  const created = { type: news.messageCreated, data: { ...message, isBot } }
  const frames = [new Frame(created, event.sequence)]
  const streamId = isBot ? streamIdIn(message.metadata) : undefined
  if (streamId === undefined) return { frames }
  const complete = { type: 'message_stream_complete', data: { streamId, message } }
  // Without a place of its own: who has only this one must get the message as well.
  return { frames: [new Frame(complete, undefined), ...frames], finished: streamId }
}

function tellEvent({ room, event }: Facts): Told {
  if (event.data === undefined) return nothing
  const { userId, isBot, createdAt, payload } = event.data as CustomEvent
  const data = {
    id: event.subjectId === '' ? null : event.subjectId,
    createdAt: createdAt ?? event.createdAt,
    conversationId: room.publicId,
    userId,
    payload,
    isBot,
  }
  return { frames: [new Frame({ type: news.eventCreated, data }, event.sequence)] }
}

function authorOf({ type, data }: StoredEvent): string[] {
  return type === news.messageDeleted ? [(data as { userId: string }).userId] : []
}

import type { Db } from '../../../platform/db/schema.js'
import type { StoredEvent } from '../../../platform/events/read.js'
import { Frame } from '../../../platform/streams/frame.js'
import { type CustomEvent, conversationEvents } from '../../conversations/conversations/index.js'
import type { MessageRow, MessagesService } from '../../conversations/messages/index.js'
import { publicIdOf, type UserRow, type UsersService } from '../../conversations/users/index.js'
import { streamIdIn } from '../message-streams.js'
import type { Entry, FollowedConversation, Render } from '../streams/index.js'
import { toMessageRecord, toUser } from '../view.js'
import type { Drafts } from './drafts.js'
import { type FeedbackRow, listFeedback } from './feedback-store.js'
import { toWebchatMessage, type WebchatMessage } from './shapes.js'

export interface WebchatSignalsDeps {
  db: Db
  messages: Pick<MessagesService, 'findAll'>
  users: Pick<UsersService, 'findAll'>
  drafts: Drafts
}

/** The rows that the events of one batch refer to. */
interface Subjects {
  messages: ReadonlyMap<string, MessageRow>
  /** Authors and participants, by native id. */
  users: ReadonlyMap<string, UserRow>
  feedback: ReadonlyMap<string, FeedbackRow>
}

type Rendered = Pick<Entry, 'frames' | 'removed' | 'last'>
type Signal = { type: string; data: object }

const noFrames: Rendered = { frames: [] }

/** Renders events of the log as the signals of web chats. */
export function createWebchatRender(deps: WebchatSignalsDeps): Render {
  const { db, messages, users, drafts } = deps

  async function load(botId: string, events: readonly StoredEvent[]): Promise<Subjects> {
    const about = (...types: string[]) =>
      events.filter(({ type }) => types.includes(type)).map(({ subjectId }) => subjectId)
    const messageIds = about(conversationEvents.messageCreated, conversationEvents.messageUpdated)
    const rows = messageIds.length === 0 ? [] : await messages.findAll(botId, messageIds)
    const feedback = await listFeedback(db, botId, about(conversationEvents.messageUpdated))
    const userIds = [
      ...rows.map((row) => row.user_id),
      ...about(conversationEvents.participantAdded),
      ...events.flatMap(authorOfDeleted),
    ].filter((id) => id !== botId)
    const found = userIds.length === 0 ? [] : await users.findAll(db, botId, userIds)
    return {
      messages: new Map(rows.map((row) => [row.id, row])),
      users: new Map(found.map((user) => [user.id, user])),
      feedback: new Map(feedback.map((row) => [row.message_id, row])),
    }
  }

  return async (conversation, events) => {
    const subjects = await load(conversation.botId, events)
    const entries: Entry[] = []
    for (const event of events) {
      const rendered = await renderEvent(conversation, event, subjects, drafts)
      entries.push({
        sequence: event.sequence,
        at: Date.parse(event.createdAt),
        ...rendered,
      })
    }
    drafts.advance(conversation, events)
    return entries
  }
}

async function renderEvent(
  conversation: FollowedConversation,
  event: StoredEvent,
  subjects: Subjects,
  drafts: Drafts,
): Promise<Rendered> {
  const conversationId = conversation.publicId
  const single = (type: string, data: object): Rendered => framesOf(event, [{ type, data }])
  const data = (event.data ?? {}) as Record<string, unknown>
  switch (event.type) {
    case conversationEvents.messageCreated: {
      const shown = toShown(conversation, event, subjects)
      return shown === undefined
        ? noFrames
        : framesOf(event, await created(conversation, shown, drafts))
    }
    case conversationEvents.messageUpdated: {
      const shown = toShown(conversation, event, subjects)
      return shown === undefined ? noFrames : single('message_updated', shown.message)
    }
    case conversationEvents.messageDeleted: {
      const author = subjects.users.get(String(data.userId))
      const userId = author === undefined ? data.userId : publicIdOf(author)
      return single('message_deleted', { id: event.subjectId, conversationId, userId })
    }
    case conversationEvents.streamDelta: {
      const draft = await drafts.add(conversation, event)
      if (draft === undefined) return noFrames
      return single(draft.isFirst ? 'message_created' : 'message_updated', draft.message)
    }
    case conversationEvents.streamAborted:
      await drafts.end(conversation, event.subjectId)
      return noFrames
    case conversationEvents.participantAdded: {
      const user = subjects.users.get(event.subjectId)
      if (user === undefined) return noFrames
      return single('participant_added', { conversationId, participant: toUser(user) })
    }
    case conversationEvents.participantRemoved:
      return {
        ...single('participant_removed', { conversationId, participantId: data.participantId }),
        removed: event.subjectId,
      }
    case conversationEvents.eventCreated: {
      if (event.data === undefined) return noFrames
      const { isBot, payload } = event.data as CustomEvent
      return isBot ? single('custom', { event: payload }) : noFrames
    }
    case conversationEvents.typingStarted:
    case conversationEvents.typingStopped:
    case conversationEvents.webchatVisibility:
    case conversationEvents.webchatConfig:
      return single(event.type, data)
    case conversationEvents.webchatCustom:
      return single('custom', data)
    case conversationEvents.conversationDeleted:
      return { frames: [], last: true }
    default:
      // Written by a newer version of the server that shares the database.
      return noFrames
  }
}

function authorOfDeleted({ type, data }: StoredEvent): string[] {
  return type === conversationEvents.messageDeleted ? [(data as { userId: string }).userId] : []
}

interface Shown {
  message: WebchatMessage
  isBot: boolean
}

/** The message of an event; undefined if it was deleted. */
function toShown(
  conversation: FollowedConversation,
  event: StoredEvent,
  { messages, users, feedback }: Subjects,
): Shown | undefined {
  const row = messages.get(event.subjectId)
  if (row === undefined) return undefined
  const author = users.get(row.user_id)
  const userId = author === undefined ? row.user_id : publicIdOf(author)
  const isBot = row.direction === 'outgoing'
  const record = toMessageRecord(row, conversation.publicId, userId)
  return { message: toWebchatMessage(record, { isBot, feedback: feedback.get(row.id) }), isBot }
}

/** The signals of a new message. */
async function created(
  conversation: FollowedConversation,
  { message, isBot }: Shown,
  drafts: Drafts,
): Promise<Signal[]> {
  if (!isBot) {
    // Before the message: clients apply the status to the message that they are still sending.
    const data = { message, oldStatus: 'pending', newStatus: 'processing' }
    return [
      { type: 'message_status_changed', data },
      { type: 'message_created', data: message },
    ]
  }
  const streamId = streamIdIn(message.metadata)
  // A message that was shown while it was written is updated, not added again.
  const isShown = streamId !== undefined && (await drafts.end(conversation, streamId))
  return [{ type: isShown ? 'message_updated' : 'message_created', data: message }]
}

/** Only the last frame has the number of the event: a client that received a part of the frames resumes before the event. */
function framesOf(event: StoredEvent, signals: readonly Signal[]): Rendered {
  return {
    frames: signals.map(
      (signal, index) =>
        new Frame(signal, index === signals.length - 1 ? event.sequence : undefined),
    ),
  }
}

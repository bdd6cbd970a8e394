import { decodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db } from '../../../platform/db/schema.js'
import { readEvents, type StoredEvent } from '../../../platform/events/read.js'
import {
  type ConversationRow,
  type ConversationsService,
  publicIdOf as publicConversationId,
} from '../../conversations/conversations/index.js'
import {
  listNewestMessages,
  type MessageRow,
  type MessagesService,
  textOf,
} from '../../conversations/messages/index.js'
import type { UsersService } from '../../conversations/users/index.js'
import type { OpenedConversation } from '../listening.js'
import { streamIdIn } from '../message-streams.js'
import type { FollowedConversation } from '../streams/index.js'
import { toConversation, toMessageRecord, toOwnUser, toUser } from '../view.js'
import { openDrafts } from './drafts.js'
import { listFeedback } from './feedback-store.js'
import { toWebchatMessage, type WebchatMessage } from './shapes.js'

export interface ConversationStateDeps {
  db: Db
  pager: Pager
  users: Pick<UsersService, 'publicIds'>
  messages: Pick<MessagesService, 'listOf'>
  conversations: Pick<ConversationsService, 'listParticipants'>
  /** Log number of the first piece of the messages in progress; undefined if there is none. */
  firstOpenPiece(conversation: FollowedConversation): Promise<number | undefined>
}

/** Limits of one `init`; web chats show no older messages. */
const limits = {
  messages: 100,
  participants: 100,
  /** Of all messages together, as JSON. */
  bytes: 2 ** 20,
  /** Events of the log that are read for messages in progress. */
  draftEvents: 2000,
  /** Of the last message in a list of conversations, as JSON; longer ones become a preview. */
  lastMessageCharacters: 4000,
}
const eventsPerRead = 100
const maxPreviewCharacters = 500

/** Reads the state of conversations for web chats. */
export function createConversationState(deps: ConversationStateDeps) {
  const { db, pager, users, messages, conversations, firstOpenPiece } = deps

  /** Reads what describes some messages; returns a function that converts one of them to the shape of the web chat. */
  async function describer(
    botId: string,
    rows: readonly MessageRow[],
    conversationId: string,
  ): Promise<(row: MessageRow) => WebchatMessage> {
    const authors = await users.publicIds(
      botId,
      rows.map((row) => row.user_id),
    )
    const given = await listFeedback(
      db,
      botId,
      rows.map(({ id }) => id),
    )
    const feedback = new Map(given.map((row) => [row.message_id, row]))
    return (row) =>
      toWebchatMessage(
        toMessageRecord(row, conversationId, authors.get(row.user_id) ?? row.user_id),
        { isBot: row.direction === 'outgoing', feedback: feedback.get(row.id) },
      )
  }

  /** Messages in the shape of the web chat, in the same order. */
  async function describe(...given: Parameters<typeof describer>): Promise<WebchatMessage[]> {
    const [, rows] = given
    return rows.map(await describer(...given))
  }

  /** The messages that the bot was writing at a position of the log. */
  async function draftsAt(
    conversation: FollowedConversation,
    position: number,
    complete: readonly MessageRow[],
  ): Promise<WebchatMessage[]> {
    const first = await firstOpenPiece(conversation)
    // Reading a longer part of the log takes too long; the next piece of each message brings its text.
    if (first === undefined || position - first > limits.draftEvents) return []
    const events: StoredEvent[] = []
    for (let after = first - 1; after < position; ) {
      const read = await readEvents(db, conversation.id, after, eventsPerRead)
      events.push(...read.filter(({ sequence }) => sequence <= position))
      const last = read.at(-1)
      if (last === undefined || read.length < eventsPerRead) break
      after = last.sequence
    }
    const ended = complete.flatMap(({ payload }) => {
      const { metadata } = decodeJson<Record<string, unknown>>(payload)
      return streamIdIn(metadata) ?? []
    })
    return openDrafts(conversation, events, new Set(ended))
  }

  /** The state for `init`, as of the time of the call: it may include events after `conversation.last_sequence`. */
  async function read({ user, conversation }: OpenedConversation) {
    const { bot_id: botId, id } = conversation
    const newestFirst = { sort: 'created_at', direction: 'desc' } as const
    const { rows } = await messages.listOf(
      botId,
      id,
      pager.page({
        operation: 'webchatInit',
        scope: id,
        ...newestFirst,
        pageSize: limits.messages,
      }),
    )
    const members = await conversations.listParticipants(
      { botId, id },
      pager.page({
        operation: 'webchatInitParticipants',
        scope: id,
        ...newestFirst,
        pageSize: limits.participants,
      }),
    )
    const publicId = publicConversationId(conversation)
    const followed = { botId, id, publicId }
    const drafts = await draftsAt(followed, conversation.last_sequence, rows)
    const toMessage = await describer(botId, rows, publicId)
    return {
      conversation: toConversation(conversation),
      messages: withinBytes([
        ...drafts.map((draft) => () => draft),
        ...rows.map((row) => () => toMessage(row)),
      ]),
      // Without the bot, for which pages then show the name that is in their configuration.
      participants: members.rows.filter((member) => member.id !== botId).map(toUser),
      user: toOwnUser(user),
    }
  }

  /** The newest message of each conversation that has one, by native id; long ones as a text. */
  async function lastMessagesOf(
    botId: string,
    rows: readonly ConversationRow[],
  ): Promise<Map<string, WebchatMessage>> {
    const newest = await listNewestMessages(
      db,
      rows.map(({ id }) => id),
    )
    const last = new Map<string, WebchatMessage>()
    const publicIdOf = new Map(rows.map((row) => [row.id, publicConversationId(row)]))
    const described = await describe(botId, newest, '')
    for (const [index, message] of described.entries()) {
      const id = newest[index]?.conversation_id ?? ''
      const { payload } = message
      const isShort = JSON.stringify(payload).length <= limits.lastMessageCharacters
      last.set(id, {
        ...message,
        conversationId: publicIdOf.get(id) ?? id,
        ...(!isShort && {
          payload: { type: 'text', text: textOf(payload, maxPreviewCharacters) || '…' },
        }),
      })
    }
    return last
  }

  return { read, describe, lastMessagesOf }
}

export type ConversationState = ReturnType<typeof createConversationState>

/**
 * The first messages that fit into the limit of bytes, and at least one. Those that do not fit are not made: a
 * conversation may have many large ones, and anybody may open it again and again.
 */
function withinBytes(makers: readonly (() => WebchatMessage)[]): WebchatMessage[] {
  const messages: WebchatMessage[] = []
  let left = limits.bytes
  for (const make of makers) {
    const message = make()
    left -= Buffer.byteLength(JSON.stringify(message))
    if (left < 0 && messages.length > 0) break
    messages.push(message)
    if (left < 0) break
  }
  return messages
}

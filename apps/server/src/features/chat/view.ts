import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../platform/db/columns.js'
import {
  type ConversationRow,
  publicIdOf as publicConversationId,
} from '../conversations/conversations/index.js'
import type { MessageRow } from '../conversations/messages/index.js'
import { publicIdOf as publicUserId, type UserRow } from '../conversations/users/index.js'

type WireUser = Output<typeof contract.chat.getUser>['user']
type WireConversation = Output<typeof contract.chat.getConversation>['conversation']
type WireMessage = Output<typeof contract.chat.createMessage>['message']

/** A user as other participants see it. */
export function toUser(row: UserRow): WireUser {
  return {
    id: publicUserId(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.name !== null && { name: row.name }),
    ...(row.picture_url !== null && { pictureUrl: row.picture_url }),
    ...(row.profile !== null && { profile: row.profile }),
  }
}

/** A user as it sees itself: with what its web chat and the bot know about it. */
export function toOwnUser(row: UserRow): WireUser {
  return {
    ...toUser(row),
    ...(row.data !== null && { data: decodeJson<JsonObject>(row.data) }),
    ...(row.attributes !== '{}' && {
      attributes: decodeJson<Record<string, string>>(row.attributes),
    }),
  }
}

/** @param lastMessage in the shape of web chats, which alone show it */
export function toConversation(
  row: ConversationRow,
  lastMessage?: WireConversation['lastMessage'],
): WireConversation {
  return {
    id: publicConversationId(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(lastMessage !== undefined && { lastMessage }),
  }
}

/** A message with public ids. */
export interface ChatMessageRecord {
  id: string
  /** ISO 8601 time. */
  createdAt: string
  conversationId: string
  userId: string
  content: ChatContent
}

/** Converts a stored message to the public ids of its conversation and its author. */
export function toMessageRecord(
  row: MessageRow,
  conversationId: string,
  userId: string,
): ChatMessageRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    conversationId,
    userId,
    content: toChatContent({ type: row.type, payload: decodeJson(row.payload) }),
  }
}

export function toMessage({ content, ...record }: ChatMessageRecord): WireMessage {
  return {
    ...record,
    payload: content.payload,
    ...(content.metadata !== undefined && { metadata: content.metadata }),
  }
}

/**
 * The content of a message has two shapes: one at the chat address, and one for bots, which is
 * stored.
 */

type JsonObject = Record<string, unknown>

/** At the chat address: the type is inside the payload, the metadata beside it. */
export interface ChatContent {
  payload: { type: string; [member: string]: unknown }
  metadata?: JsonObject
}

/** For bots and integrations: the type is beside the payload, the metadata inside. */
export interface StoredContent {
  type: string
  payload: JsonObject
}

/** Converts content of the chat address for bots. {@link toChatContent} is the inverse. */
export function toStoredContent({ payload, metadata }: ChatContent): StoredContent {
  const { type, ...content } = payload
  if (type === 'carousel') content.items = mapItems(content.items, toStoredCard)
  else if (type === 'bloc') content.items = mapItems(content.items, toStoredPart)
  if (metadata !== undefined) content.metadata = metadata
  return { type, payload: content }
}

/** Converts content of bots for the chat address. Unexpected values pass unchanged. */
export function toChatContent(stored: StoredContent): ChatContent {
  const { type: _, metadata, ...content } = stored.payload
  const payload = { type: stored.type, ...content, ...chatItems(stored) }
  if (metadata === undefined) return { payload }
  return isObject(metadata) ? { payload, metadata } : { payload: { ...payload, metadata } }
}

function chatItems({ type, payload }: StoredContent): { items?: unknown } {
  switch (type) {
    case 'carousel':
      return { items: mapItems(payload.items, toChatCard) }
    case 'bloc':
      return { items: mapItems(payload.items, toChatPart) }
    default:
      return {}
  }
}

function toStoredCard({ type: _, ...card }: JsonObject): JsonObject {
  return card
}

/** Clients cannot read a card of a carousel without its type, which bots do not send. */
function toChatCard(card: JsonObject): JsonObject {
  return { ...card, type: 'card' }
}

/** Web chats send parts in the form of bots already. */
function toStoredPart(part: JsonObject): JsonObject {
  const { type, ...payload } = part
  return isObject(part.payload) ? { type, payload: part.payload } : { type, payload }
}

function toChatPart(part: JsonObject): JsonObject {
  return isObject(part.payload) ? { ...part.payload, type: part.type } : part
}

function mapItems(items: unknown, convert: (item: JsonObject) => JsonObject): unknown {
  if (!Array.isArray(items)) return items
  return items.map((item: unknown) => (isObject(item) ? convert(item) : item))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

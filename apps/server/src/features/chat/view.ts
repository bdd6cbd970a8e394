import type { contract, Output } from '@botstead/contract'
import {
  type ConversationRow,
  publicIdOf as publicConversationId,
} from '../conversations/conversations/index.js'
import { publicIdOf as publicUserId, type UserRow } from '../conversations/users/index.js'
import type { ChatMessageRecord } from './messages.js'

type WireUser = Output<typeof contract.chat.getUser>['user']
type WireConversation = Output<typeof contract.chat.getConversation>['conversation']
type WireMessage = Output<typeof contract.chat.createMessage>['message']

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

export function toConversation(row: ConversationRow): WireConversation {
  return {
    id: publicConversationId(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function toMessage({ content, ...record }: ChatMessageRecord): WireMessage {
  return {
    ...record,
    payload: content.payload,
    ...(content.metadata !== undefined && { metadata: content.metadata }),
  }
}

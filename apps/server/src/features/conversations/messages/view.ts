import type { contract, Output } from '@botstead/contract'
import { type Tags, visibleTags } from '../../../domain/tags.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { type ConversationsService, toConversation } from '../conversations/index.js'
import { toUser, type UsersService } from '../users/index.js'
import { listMessages, type MessageRow } from './store.js'

type WireMessage = Output<typeof contract.messages.get>['message']

/**
 * A message as bots and integrations see it.
 * @param alias of the calling integration; undefined for the bot
 */
export function toMessage(row: MessageRow, alias: string | undefined): WireMessage {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? row.created_at,
    type: row.type,
    payload: decodeJson(row.payload),
    direction: row.direction,
    userId: row.user_id,
    conversationId: row.conversation_id,
    tags: row.tags === null ? {} : visibleTags(alias, decodeJson<Tags>(row.tags)),
    ...(row.origin !== null && { origin: row.origin }),
  }
}

/** A message with its author and its conversation, as sent to receivers. */
export interface DescribedMessage {
  message: ReturnType<typeof toMessage>
  user: ReturnType<typeof toUser>
  conversation: ReturnType<typeof toConversation>
}

/**
 * Messages with their author and conversation, by id; deleted ones are left out.
 * @param alias of the receiving integration; undefined for the bot
 */
export async function describeMessages(
  deps: {
    users: Pick<UsersService, 'findAll'>
    conversations: Pick<ConversationsService, 'findAll'>
  },
  executor: Db | Tx,
  botId: string,
  messageIds: readonly string[],
  alias?: string,
): Promise<Map<string, DescribedMessage>> {
  const rows = await listMessages(executor, botId, messageIds)
  const users = await deps.users.findAll(
    executor,
    botId,
    rows.map(({ user_id }) => user_id),
  )
  const conversations = await deps.conversations.findAll(
    executor,
    botId,
    rows.map(({ conversation_id }) => conversation_id),
  )
  const userOf = new Map(users.map((user) => [user.id, toUser(user, alias)]))
  const conversationOf = new Map(conversations.map((row) => [row.id, toConversation(row, alias)]))
  const described = new Map<string, DescribedMessage>()
  for (const row of rows) {
    const conversation = conversationOf.get(row.conversation_id)
    if (conversation === undefined) continue
    const user = userOf.get(row.user_id) ?? departed(row)
    described.set(row.id, { message: toMessage(row, alias), user, conversation })
  }
  return described
}

/** A stand-in for a deleted author, of which only the id is known, from the message. */
function departed({ user_id: id, created_at }: MessageRow) {
  return { id, createdAt: created_at, updatedAt: created_at, tags: {} }
}

import type { Db, Tx } from '../../../platform/db/schema.js'
import { type ConversationsService, toConversation } from '../conversations/index.js'
import { toUser, type UsersService } from '../users/index.js'
import { listMessages, type MessageRow } from './store.js'
import { toMessage } from './view.js'

/** A message with its author and its conversation, as receivers are told of it. */
export interface DescribedMessage {
  message: ReturnType<typeof toMessage>
  user: ReturnType<typeof toUser>
  conversation: ReturnType<typeof toConversation>
}

/**
 * Messages with all that belongs to them, by id, for those that are still there.
 * @param alias of the integration that is told; undefined for the bot
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

/** What is left of an author who was deleted: the id, which the message carries. */
function departed({ user_id: id, created_at }: MessageRow) {
  return { id, createdAt: created_at, updatedAt: created_at, tags: {} }
}

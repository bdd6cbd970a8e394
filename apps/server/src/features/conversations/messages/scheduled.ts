import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import type { ConversationRef, ConversationsService } from '../conversations/index.js'
import { publicIdOf, type UsersService } from '../users/index.js'
import { type AppendDeps, appendMessage, type NewMessage } from './append.js'
import {
  deleteScheduledOf,
  insertScheduled,
  type MessageRow,
  type ScheduledMessageRow,
  takeScheduled,
} from './store.js'

/** Name of the job that appends a scheduled message; its key is the id of the message. */
export const releaseMessageJob = 'messages.release'

/** Name of the job that deletes the messages of a deleted conversation, whose id is its key. */
export const emptyConversationJob = 'messages.empty'

export interface ScheduledMessagesDeps extends AppendDeps {
  run: Run
  clock: Clock
  ids: Ids
  queue: Queue
  botProfiles: BotProfiles
  conversations: Pick<ConversationsService, 'findFor' | 'takeSlot'>
  users: Pick<UsersService, 'findAll'>
}

/**
 * Stores a scheduled message under the id that it will have, with the job that appends it. One of a user is counted now,
 * so that its release need not be refused.
 */
export async function scheduleMessage(
  { ids, clock, queue, meter }: ScheduledMessagesDeps,
  tx: Tx,
  conversationId: string,
  { hasCallQuota: hasQuota }: Pick<BotProfile, 'hasCallQuota'>,
  message: NewMessage & { tags: string | null; origin: MessageRow['origin'] },
  dueAt: number,
): Promise<MessageRow> {
  const { botId, userId, ...content } = message
  const row = {
    ...content,
    id: ids.next('msg'),
    bot_id: botId,
    user_id: userId,
    conversation_id: conversationId,
    due_at: isoTime(dueAt),
    created_at: isoTime(clock.now()),
  }
  await insertScheduled(tx, row)
  if (message.direction === 'incoming') {
    await meter.call(tx, { botId, kind: 'user_messages', hasQuota })
  }
  await queue.enqueue(tx, {
    kind: releaseMessageJob,
    key: row.id,
    payload: { botId },
    runAt: dueAt,
    maxAttempts: 100,
  })
  return toMessageRow(row)
}

/**
 * Appends a scheduled message to its conversation. Does nothing if it was cancelled or already
 * appended, or if its author or its conversation was deleted.
 */
export async function releaseMessage(
  deps: ScheduledMessagesDeps,
  botId: string,
  id: string,
): Promise<void> {
  const profile = await deps.botProfiles.of(botId)
  await deps.run(async (tx) => {
    const scheduled = await takeScheduled(tx, botId, id)
    if (scheduled === undefined) return
    const { user_id: userId, conversation_id: conversationId } = scheduled
    const [user] = await deps.users.findAll(tx, botId, [userId])
    const found = await deps.conversations.findFor(tx, { botId, userId }, conversationId)
    if (user === undefined || found === undefined) return
    const slot = await deps.conversations.takeSlot(
      tx,
      { botId, id: conversationId },
      { id: userId, publicId: publicIdOf(user), participates: found.participates },
    )
    if (slot === undefined) return
    const { type, payload, direction, tags, origin } = scheduled
    const message = { id, botId, userId, type, payload, direction, tags, origin }
    await appendMessage(deps, tx, slot, message, profile)
  })
}

/** Deletes the messages of a deleted conversation: scheduled ones at once, the others by a job. */
export async function emptyConversation(
  { queue }: ScheduledMessagesDeps,
  tx: Tx,
  { botId, id }: ConversationRef,
): Promise<void> {
  await deleteScheduledOf(tx, botId, [id])
  await queue.enqueue(tx, { kind: emptyConversationJob, key: id, payload: { botId } })
}

/** A scheduled message as shown until it is appended. */
export function toMessageRow({ due_at: _, ...row }: ScheduledMessageRow): MessageRow {
  return { ...row, sequence: 0, updated_at: null }
}

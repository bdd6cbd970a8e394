import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { insertScheduled, type ScheduledMessageRow } from './runtime-store.js'
import { releaseMessageJob } from './scheduled.js'
import type { MessagesDeps, NewMessage } from './service.js'
import type { MessageRow } from './store.js'

/** Keeps messages that are to come until they are due, under the ids that they will have. */
export function planMessage({ clock, ids, queue }: Pick<MessagesDeps, 'clock' | 'ids' | 'queue'>) {
  return async (
    tx: Tx,
    conversationId: string,
    message: NewMessage & { tags: string | null; origin: MessageRow['origin'] },
    dueAt: number,
  ): Promise<MessageRow> => {
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
    await queue.enqueue(tx, {
      kind: releaseMessageJob,
      key: row.id,
      payload: { botId },
      runAt: dueAt,
      maxAttempts: 100,
    })
    return toPlanned(row)
  }
}

/** A message that is to come, as it is shown until then. */
export function toPlanned({ due_at: _, ...row }: ScheduledMessageRow): MessageRow {
  return { ...row, sequence: 0, updated_at: null }
}

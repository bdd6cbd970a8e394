import type { Tx } from '../../../platform/db/schema.js'
import type { EventRow } from './store.js'

/** A message of a user that its bot was not told of. */
interface UntoldMessage {
  id: string
  conversation_id: string
  user_id: string
  created_at: string
}

/**
 * Messages of users since an ISO 8601 time of which no event tells, the newest first. Those that were
 * imported are history, and nothing to tell.
 */
export async function listUntoldMessages(
  tx: Tx,
  botId: string,
  since: string,
  limit: number,
): Promise<UntoldMessage[]> {
  return await tx
    .selectFrom('messages')
    .select(['id', 'conversation_id', 'user_id', 'created_at'])
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('direction', '=', 'incoming')
    .where('sequence', '>', 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('bot_events')
            .select('bot_events.id')
            .whereRef('bot_events.message_id', '=', 'messages.id')
            .where('bot_events.type', '=', 'message_created'),
        ),
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Pending events since an ISO 8601 time that were never put into the outbox, the newest first. */
export async function listUnsentEvents(
  tx: Tx,
  botId: string,
  since: string,
  limit: number,
): Promise<EventRow[]> {
  return await tx
    .selectFrom('bot_events')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('status', '=', 'pending')
    // As a list that is read once: asked for each event, all deliveries of that time were read for each.
    .where('id', 'not in', ({ selectFrom }) =>
      selectFrom('deliveries')
        .select('subject_id')
        .where('bot_id', '=', botId)
        .where('kind', '=', 'event_received')
        // Not before its event, so that only as many are read as the time holds.
        .where('created_at', '>=', since),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

import { sql } from 'kysely'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'
import type { EventRow } from './store.js'

/** The columns of an event that figures need. */
export type CountedEvent = Pick<EventRow, 'id' | 'created_at' | 'type'>

/**
 * Events of a bot in a period, oldest first, at most `limit`.
 * @param after the last one that was read; undefined to begin
 */
export async function listCounted(
  db: Db,
  botId: string,
  { since, before }: Period,
  after: Pick<EventRow, 'id' | 'created_at'> | undefined,
  limit: number,
): Promise<CountedEvent[]> {
  let query = db
    .selectFrom('bot_events')
    .select(['id', 'created_at', 'type'])
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
  if (after)
    query = query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`)
  return await query.orderBy('created_at').orderBy('id').limit(limit).execute()
}

/** Time of the first event of a bot in a period. */
export async function findFirstEventTime(
  db: Db,
  botId: string,
  { since, before }: Period,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('bot_events')
    .select('created_at')
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}

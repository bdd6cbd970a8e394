import { type Expression, type SqlBool, sql } from 'kysely'
import type { Receiver } from '../../domain/receiver.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db } from '../../platform/db/schema.js'
import { type DeliveryRow, isPending } from './store.js'

/** What is looked at before anything is claimed. */
export type DueDelivery = Pick<DeliveryRow, 'id' | 'bot_id' | 'integration'>

const due = prepared<{ now: string; limit: number }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'bot_id', 'integration'])
    .where('next_attempt_at', '<=', p('now'))
    .where(isPending)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(p('limit')),
)

/** What may be sent now, longest due first. */
export async function listDue(db: Db, now: string, limit: number): Promise<DueDelivery[]> {
  return await due(db, { now, limit })
}

const dueOf = prepared<{ botId: string; integration: string; now: string; limit: number }>()(
  (db, p) =>
    db
      .selectFrom('deliveries')
      .select(['id', 'bot_id', 'integration'])
      .where('bot_id', '=', p('botId'))
      .where('integration', '=', p('integration'))
      .where('next_attempt_at', '<=', p('now'))
      .where(isPending)
      .orderBy('next_attempt_at')
      .orderBy('id')
      .limit(p('limit')),
)

/** What may be sent to one receiver now, longest due first. */
export async function listDueOf(
  db: Db,
  { botId, integration }: Receiver,
  now: string,
  limit: number,
): Promise<DueDelivery[]> {
  return await dueOf(db, { botId, integration, now, limit })
}

/**
 * Receivers that something is due for. Each is found by one step in an index, however much waits for
 * the one before it.
 */
export async function listDueReceivers(db: Db, now: string): Promise<Receiver[]> {
  const next = (column: 'bot_id' | 'integration', behind: Expression<SqlBool>) => sql`(
    select next.${sql.ref(column)} from deliveries as next
    where next.next_attempt_at is not null and ${behind}
    order by next.bot_id, next.integration limit 1)`
  const behind = sql<SqlBool>`
    (next.bot_id, next.integration) > (receiver.bot_id, receiver.integration)`
  const first = sql<SqlBool>`true`
  const { rows } = await sql<Receiver>`
    with recursive receiver(bot_id, integration) as (
      select ${next('bot_id', first)}, ${next('integration', first)}
      union all
      select ${next('bot_id', behind)}, ${next('integration', behind)} from receiver
      where receiver.bot_id is not null)
    select bot_id as "botId", integration from receiver
    where exists (
      select 1 from deliveries as d
      where d.bot_id = receiver.bot_id and d.integration = receiver.integration
        and d.next_attempt_at <= ${now} and d.status = 'pending')`.execute(db)
  return rows
}

const nextDue = prepared<{ now: string }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', p('now'))
    .where(isPending)
    .orderBy('next_attempt_at')
    .limit(1),
)

/** When after `now` the next delivery is due or loses its sender; undefined if none is. */
export async function findNextDue(db: Db, now: string): Promise<string | undefined> {
  return (await nextDue.first(db, { now }))?.next_attempt_at ?? undefined
}

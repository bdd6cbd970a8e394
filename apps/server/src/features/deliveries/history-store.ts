import { type Expression, type SqlBool, sql } from 'kysely'
import type { DeliveryKind, NeededSubjects } from '../../domain/deliveries.js'
import { isoTime } from '../../platform/clock.js'
import { dialectOf } from '../../platform/db/dialect.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { KeepStream } from '../../platform/events/trim.js'
import { type DeliveryRow, isFinished, isPending } from './store.js'

export async function findDelivery(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  return await executor
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .executeTakeFirst()
}

/** A delivery of any bot; the caller checks whose it is. */
export async function findAnyDelivery(db: Db, id: string): Promise<DeliveryRow | undefined> {
  return await db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Locks a delivery until the transaction ends; undefined if there is none. Replays lock deliveries
 * before their queues, as settling does.
 */
export async function lockDelivery(
  tx: Tx,
  botId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const own = tx
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(own).executeTakeFirst()
}

/** Locks the finished ones of the given deliveries; skips those that are locked. */
export async function lockFinished(
  tx: Tx,
  botId: string,
  ids: readonly string[],
): Promise<DeliveryRow[]> {
  if (ids.length === 0) return []
  const { jsonTexts, lockFreeRows } = dialectOf(tx)
  const own = tx
    .selectFrom(jsonTexts(sql`${JSON.stringify(ids)}`))
    .crossJoin('deliveries')
    .whereRef('deliveries.id', '=', 'given.value')
    .selectAll('deliveries')
    .where('bot_id', '=', botId)
    .where('status', '<>', 'pending')
    .orderBy('created_at')
    .orderBy('deliveries.id')
  return await lockFreeRows(own).execute()
}

/** Makes a finished delivery, locked by the caller, pending again at another position. */
export async function reopen(
  tx: Tx,
  { id, bot_id }: Pick<DeliveryRow, 'id' | 'bot_id'>,
  next: { position: number; nextAttemptAt: string | null },
  now: string,
): Promise<void> {
  await tx
    .updateTable('deliveries')
    .set((eb) => ({
      status: 'pending' as const,
      owner: null,
      set_aside: 0,
      updated_at: now,
      position: next.position,
      next_attempt_at: next.nextAttemptAt,
      // Prior attempts do not count towards giving it up; their numbers are not reused.
      spent: eb.ref('attempts'),
      code_ends: null,
    }))
    .where('id', '=', id)
    .where('bot_id', '=', bot_id)
    .execute()
}

/**
 * Deletes finished deliveries from before an ISO 8601 time, with their attempts; returns how many.
 * One that is being replayed is skipped.
 */
export async function deleteOld(tx: Tx, before: string, limit: number): Promise<number> {
  const old = tx
    .selectFrom('deliveries')
    .select('id')
    .where('created_at', '<', before)
    .where('updated_at', '<', before)
    .where('status', '<>', 'pending')
    .orderBy('created_at')
    .limit(limit)
  const rows = await dialectOf(tx).lockFreeRows(old).execute()
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await tx.deleteFrom('delivery_attempts').where('delivery_id', 'in', ids).execute()
  await tx.deleteFrom('deliveries').where('id', 'in', ids).execute()
  return ids.length
}

/**
 * Locks deliveries from before an ISO 8601 time that are not in flight, the head of each queue;
 * those that are being claimed are skipped.
 */
export async function listStale(tx: Tx, before: string, limit: number): Promise<DeliveryRow[]> {
  const stale = tx
    .selectFrom('deliveries')
    .selectAll()
    .where('created_at', '<', before)
    .where('updated_at', '<', before)
    .where('status', '=', 'pending')
    .where('owner', 'is', null)
    .where((eb) => eb.or([eb('next_attempt_at', 'is not', null), eb('set_aside', '=', 1)]))
    .orderBy('created_at')
    .limit(limit)
  return await dialectOf(tx).lockFreeRows(stale).execute()
}

/** Gives up a delivery that is not in flight; false if it is by now. */
export async function expire(tx: Tx, id: string, reason: string, now: string): Promise<boolean> {
  const result = await tx
    .updateTable('deliveries')
    .set({
      status: 'failed',
      last_error: reason,
      set_aside: 0,
      next_attempt_at: null,
      updated_at: now,
    })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('owner', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Milliseconds by which a delivery may be later than its subject in the same transaction. */
const slackMs = 60_000

/**
 * Subjects, from before an ISO 8601 time, of deliveries of some kinds, which may still be sent or
 * replayed. Filtered by age, because few deliveries are so old and the subject has no index.
 */
export function subjectsOfDeliveries(
  tx: Tx,
  kinds: readonly DeliveryKind[],
  before: string,
): NeededSubjects {
  return tx
    .selectFrom('deliveries')
    .select('subject_id')
    .where('created_at', '<', isoTime(Date.parse(before) + slackMs))
    .where('kind', 'in', [...kinds])
    .as('needed')
}

/**
 * Keeps the log of a conversation while a signal of it is pending for the webhook of its chat,
 * because signals are built from the log when they are sent.
 * @param alias of the built-in chat
 */
export function keepWaitingSignals(alias: string): KeepStream {
  return ({ stream, botId }) => sql<SqlBool>`exists (
    select 1 from deliveries as waiting
    where waiting.order_key = ${botId} || ${sql.lit(`/${alias}/`)} || ${stream}
      and waiting.status = 'pending')`
}

/** Ids of the events of a bot whose delivery was requested since an ISO 8601 time. */
export function requestedEvents(tx: Tx, botId: string, since: string): Expression<string> {
  const toBot = tx
    .selectFrom('deliveries')
    .select('subject_id')
    .where('bot_id', '=', botId)
    .where('integration', '=', '')
    .where('kind', '=', 'event_received')
    // As the indexes have it.
    .where(sql<SqlBool>`(created_at || '/' || id) >= ${since}`)
  const finished = toBot
    .where(isFinished)
    .where('status', 'in', ['delivered', 'failed', 'canceled'])
  return sql<string>`${toBot.where(isPending).unionAll(finished)}`
}

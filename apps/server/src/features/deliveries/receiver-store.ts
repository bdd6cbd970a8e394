import { type Selectable, sql } from 'kysely'
import type { Receiver } from '../../domain/deliveries.js'
import { dialectOf } from '../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { isParked, isPending, type ReceiverColumns } from './store.js'
import type { DeliveryReceiversTable } from './table.js'

export type ReceiverRow = Selectable<DeliveryReceiversTable>

/** The state of a receiver that works. */
const working = {
  failures: 0,
  failing_since: null,
  paused: null,
  paused_at: null,
  reason: null,
  probe_at: null,
  releasing: 0,
}

/** Returns the receivers of bots that have failed lately or are paused. */
export async function listReceivers(
  executor: Db | Tx,
  botIds: readonly string[],
): Promise<ReceiverRow[]> {
  if (botIds.length === 0) return []
  return await executor
    .selectFrom('delivery_receivers')
    .selectAll()
    .where('bot_id', 'in', [...new Set(botIds)])
    .execute()
}

/** Returns the receivers of bots that are paused. */
export async function listPausedReceivers(
  db: Db,
  botIds: readonly string[],
): Promise<ReceiverColumns[]> {
  return await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('delivery_receivers')
    .whereRef('bot_id', '=', 'given.value')
    .select(['bot_id', 'integration'])
    .where('paused', 'is not', null)
    .execute()
}

/** A receiver in a list, whose `id` is its alias. */
export interface ListedReceiver extends ReceiverRow {
  id: string
  /** Its oldest pending delivery: time and id; null if there is none. */
  oldest_waiting: string | null
}

/** Pages through the receivers of bots that have failed lately or are paused, by bot and alias. */
export async function pageReceivers(
  db: Db,
  botIds: readonly string[],
  paused: boolean | undefined,
  page: PageRequest<'bot_id'>,
): Promise<Page<ListedReceiver>> {
  const oldest = sql<string | null>`(
    select (d.created_at || '/' || d.id) from deliveries as d
    where d.bot_id = r.bot_id and d.integration = r.integration and d.status = 'pending'
    order by (d.created_at || '/' || d.id) limit 1)`
  let receivers = db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('delivery_receivers as r')
    .whereRef('r.bot_id', '=', 'given.value')
    .selectAll('r')
    .select(['r.integration as id', oldest.as('oldest_waiting')])
  if (paused !== undefined) receivers = receivers.where('paused', paused ? 'is not' : 'is', null)
  if (paused !== true) {
    receivers = receivers.where((eb) =>
      eb.or([eb('paused', 'is not', null), eb('failures', '>', 0)]),
    )
  }
  return await paginate(db.selectFrom(receivers.as('receiver')).selectAll(), page)
}

const countFailure = prepared<{
  bot_id: string
  integration: string
  now: string
  reason: string
}>()((db, p) =>
  db
    .insertInto('delivery_receivers')
    .values({
      ...working,
      bot_id: p('bot_id'),
      integration: p('integration'),
      failures: 1,
      failing_since: p('now'),
      reason: p('reason'),
    })
    .onConflict((conflict) =>
      conflict.columns(['bot_id', 'integration']).doUpdateSet((eb) => ({
        failures: eb('delivery_receivers.failures', '+', 1),
        failing_since: eb.fn.coalesce('delivery_receivers.failing_since', 'excluded.failing_since'),
        // A manual pause has no error as its reason, not even of deliveries in flight when it
        // began.
        reason: eb
          .case()
          .when('delivery_receivers.paused', '=', 'operator')
          .then(null)
          .else(eb.ref('excluded.reason'))
          .end(),
      })),
    )
    .returningAll(),
)

/** Counts an attempt with a transient failure; returns the updated receiver. */
export async function recordFailure(
  tx: Tx,
  { botId, integration }: Receiver,
  reason: string,
  now: string,
): Promise<ReceiverRow | undefined> {
  return await countFailure.first(tx, { bot_id: botId, integration, now, reason })
}

/** Resets the failures of a receiver after a success. */
export async function recordSuccess(tx: Tx, { botId, integration }: Receiver): Promise<void> {
  await tx
    .updateTable('delivery_receivers')
    .set((eb) => ({
      failures: 0,
      failing_since: null,
      reason: eb.case().when('paused', 'is', null).then(null).else(eb.ref('reason')).end(),
    }))
    .where('bot_id', '=', botId)
    .where('integration', '=', integration)
    .execute()
}

/**
 * Stops sending to a receiver.
 * @param probeAt ISO 8601 time of the first ping that may end the pause; null if only a person may
 * end it
 * @param reason why; null keeps the last failure, except for a manual pause
 * @returns false if it was paused already
 */
export async function pause(
  tx: Tx,
  { botId, integration }: Receiver,
  by: 'failures' | 'operator',
  now: string,
  probeAt: string | null,
  reason: string | null = null,
): Promise<boolean> {
  const paused = { paused: by, paused_at: now, probe_at: probeAt, releasing: 0 }
  const result = await tx
    .insertInto('delivery_receivers')
    .values({ ...working, ...paused, bot_id: botId, integration, reason })
    .onConflict((conflict) =>
      conflict
        .columns(['bot_id', 'integration'])
        .doUpdateSet({ ...paused, ...((reason !== null || by === 'operator') && { reason }) })
        // A manual pause replaces one that failures caused, and not the other way round.
        .where((eb) =>
          by === 'operator'
            ? eb('delivery_receivers.paused', 'is distinct from', 'operator')
            : eb('delivery_receivers.paused', 'is', null),
        ),
    )
    .executeTakeFirst()
  return Number(result.numInsertedOrUpdatedRows ?? 0n) > 0
}

/**
 * Ends the pause of a receiver; its parked deliveries are resumed afterwards.
 * @param only ends only pauses by this; any pause if left out
 * @returns false if there was no such pause
 */
export async function resume(
  tx: Tx,
  { botId, integration }: Receiver,
  only?: 'failures',
): Promise<boolean> {
  let query = tx
    .updateTable('delivery_receivers')
    .set({ ...working, releasing: 1 })
    .where('bot_id', '=', botId)
    .where('integration', '=', integration)
    .where('paused', 'is not', null)
  if (only !== undefined) query = query.where('paused', '=', only)
  return Number((await query.executeTakeFirst()).numUpdatedRows) > 0
}

/** Returns receivers whose parked deliveries are being resumed. */
export async function listReleasing(db: Db): Promise<Receiver[]> {
  const rows = await db
    .selectFrom('delivery_receivers')
    .select(['bot_id', 'integration'])
    .where('releasing', '=', 1)
    .execute()
  return rows.map(({ bot_id, integration }) => ({ botId: bot_id, integration }))
}

/**
 * Resumes some parked deliveries of a receiver, and ends the pauses after failed attempts, in the
 * transaction of the caller.
 * @returns false if nothing is left: all are resumed, or the receiver was paused again
 */
export async function releaseSome(
  tx: Tx,
  receiver: Receiver,
  now: string,
  limit: number,
): Promise<boolean> {
  const own = tx
    .updateTable('delivery_receivers')
    .where('bot_id', '=', receiver.botId)
    .where('integration', '=', receiver.integration)
  // Locks the row, so that nothing pauses the receiver or parks deliveries until this transaction
  // ends.
  const held = await own.set({ releasing: 1 }).where('releasing', '=', 1).executeTakeFirst()
  if (held.numUpdatedRows === 0n) return false
  for (const waiting of ['parked', 'retries'] as const) {
    if ((await makeDue(tx, waiting, receiver, now, limit)) === limit) return true
  }
  await own.set({ releasing: 0 }).execute()
  return false
}

const holdOne = prepared<{ bot_id: string; integration: string }>()((db, p) =>
  db
    .updateTable('delivery_receivers')
    .set((eb) => ({ paused: eb.ref('paused') }))
    .where('bot_id', '=', p('bot_id'))
    .where('integration', '=', p('integration'))
    .where('paused', 'is not', null),
)

/** Locks the pause of a receiver until the transaction ends; false if it is no longer paused. */
export async function holdPause(tx: Tx, { botId, integration }: Receiver): Promise<boolean> {
  return (await holdOne.affected(tx, { bot_id: botId, integration })) > 0
}

/**
 * Claims due pings; each process gets different ones. A receiver that is being changed is skipped
 * until the next look.
 * @param nextAt ISO 8601 time of the ping after this one, if it fails
 */
export async function claimProbes(tx: Tx, now: string, nextAt: string): Promise<Receiver[]> {
  const rows = await tx
    .with('due', (cte) =>
      dialectOf(tx).lockFreeRows(
        cte
          .selectFrom('delivery_receivers')
          .select(['bot_id', 'integration'])
          .where('probe_at', '<=', now),
      ),
    )
    .updateTable('delivery_receivers')
    .set({ probe_at: nextAt })
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('bot_id', 'integration'),
        'in',
        selectFrom('due')
          .select(['due.bot_id', 'due.integration'])
          .$asTuple('bot_id', 'integration'),
      ),
    )
    .returning(['bot_id', 'integration'])
    .execute()
  return rows.map(({ bot_id, integration }) => ({ botId: bot_id, integration }))
}

/** Returns when the next ping is due. */
export async function findNextProbe(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('delivery_receivers')
    .select('probe_at')
    .where('probe_at', 'is not', null)
    .orderBy('probe_at')
    .limit(1)
    .executeTakeFirst()
  return row?.probe_at ?? undefined
}

/**
 * Retries the failing receivers of a bot at once: paused ones by a ping, others by their next
 * attempts, some per transaction.
 * @returns whether there may be more attempts to make due
 */
export async function retryNow(
  tx: Tx,
  botId: string,
  now: string,
  limit: number,
): Promise<boolean> {
  await tx
    .with('paused_ones', (cte) =>
      // In the order in which pauses are locked.
      dialectOf(tx).lockRows(
        cte
          .selectFrom('delivery_receivers')
          .select('integration')
          .where('bot_id', '=', botId)
          .where('paused', '=', 'failures')
          .orderBy('integration'),
      ),
    )
    .updateTable('delivery_receivers')
    .set({ probe_at: now })
    .where('bot_id', '=', botId)
    .where('integration', 'in', ({ selectFrom }) => selectFrom('paused_ones').select('integration'))
    .execute()
  const failing = await tx
    .selectFrom('delivery_receivers')
    .select('integration')
    .where('bot_id', '=', botId)
    .where('failing_since', 'is not', null)
    .where('paused', 'is', null)
    .execute()
  let isMore = false
  for (const { integration } of failing) {
    const receiver = { botId, integration }
    if ((await makeDue(tx, 'retries', receiver, now, limit)) === limit) isMore = true
  }
  return isMore
}

/** Counts the paused receivers, by what paused them. */
export async function countPaused(db: Db) {
  return await db
    .selectFrom('delivery_receivers')
    .select(({ fn }) => ['paused', fn.countAll<number>().as('count')])
    .where('paused', 'is not', null)
    .groupBy('paused')
    .execute()
}

/**
 * Parks deliveries while their receiver is paused. A process whose lease expired loses its claim.
 * The caller holds the pause, so that it cannot end meanwhile; deliveries that are being settled
 * are skipped, because settling may wait for that pause.
 * @returns how many
 */
export async function park(tx: Tx, ids: readonly string[], now: string): Promise<number> {
  if (ids.length === 0) return 0
  const result = await tx
    .with('due', (cte) =>
      dialectOf(tx).lockFreeRows(
        cte
          .selectFrom('deliveries')
          .select('id')
          .where('id', 'in', [...ids])
          .where('next_attempt_at', '<=', now)
          .where(isPending),
      ),
    )
    .updateTable('deliveries')
    .set({ set_aside: 1, next_attempt_at: null, owner: null })
    .where('id', 'in', ({ selectFrom }) => selectFrom('due').select('id'))
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

/**
 * Makes deliveries due that are parked or wait after a failed attempt, at most `limit`; returns how
 * many.
 */
async function makeDue(
  tx: Tx,
  waiting: 'parked' | 'retries',
  { botId, integration }: Receiver,
  now: string,
  limit: number,
): Promise<number> {
  const { lockRows, lockFreeRows } = dialectOf(tx)
  const ofReceiver = tx
    .selectFrom('deliveries')
    .select('id')
    .where('bot_id', '=', botId)
    .where('integration', '=', integration)
    .limit(limit)
  const some =
    waiting === 'parked'
      ? // Checked again when locked: a probe may have claimed one.
        lockRows(ofReceiver.where(isParked))
      : // Those that another process is claiming are skipped.
        lockFreeRows(
          ofReceiver.where('next_attempt_at', '>', now).where('owner', 'is', null).where(isPending),
        )
  const result = await tx
    .with('waiting', () => some)
    .updateTable('deliveries')
    .set({ set_aside: 0, next_attempt_at: now })
    .where('id', 'in', ({ selectFrom }) => selectFrom('waiting').select('id'))
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

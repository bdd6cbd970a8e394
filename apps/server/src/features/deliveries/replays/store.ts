import { type Selectable, sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { DeliveryRow } from '../store.js'
import type { DeliveryReplaysTable } from './table.js'

export type ReplayRow = Selectable<DeliveryReplaysTable>

export async function insertReplay(tx: Tx, row: ReplayRow): Promise<void> {
  await tx.insertInto('delivery_replays').values(row).execute()
}

export async function countRunning(tx: Tx, workspaceId: string): Promise<number> {
  const row = await tx
    .selectFrom('delivery_replays')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

export async function pageReplays(
  db: Db,
  workspaceId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<ReplayRow>> {
  const own = db.selectFrom('delivery_replays').selectAll().where('workspace_id', '=', workspaceId)
  return await paginate(own, page)
}

export async function findReplay(db: Db, id: string): Promise<ReplayRow | undefined> {
  return await db.selectFrom('delivery_replays').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Locks a replay until the transaction ends, so that one step of it is made at a time. */
export async function lockReplay(tx: Tx, id: string): Promise<ReplayRow | undefined> {
  const own = tx.selectFrom('delivery_replays').selectAll().where('id', '=', id)
  return await dialectOf(tx).lockRows(own).executeTakeFirst()
}

export async function patchReplay(tx: Tx, id: string, patch: Partial<ReplayRow>): Promise<void> {
  await tx.updateTable('delivery_replays').set(patch).where('id', '=', id).execute()
}

/** Counts the replayed deliveries that wait for their results. */
export async function countOpen(db: Db, replayId: string): Promise<number> {
  const row = await db
    .selectFrom('replayed_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('replay_id', '=', replayId)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** Remembers replayed deliveries until they have results. */
export async function insertOpen(
  tx: Tx,
  replayId: string,
  deliveries: readonly Pick<DeliveryRow, 'id' | 'bot_id'>[],
): Promise<void> {
  if (deliveries.length === 0) return
  await tx
    .insertInto('replayed_deliveries')
    .values(deliveries.map(({ id, bot_id }) => ({ replay_id: replayId, delivery_id: id, bot_id })))
    // A delivery that was replayed before is found again if its results were not counted yet.
    .onConflict((conflict) => conflict.columns(['replay_id', 'delivery_id']).doNothing())
    .execute()
}

/** The results of replayed deliveries, by status; the others still wait. */
export async function takeResults(
  tx: Tx,
  replayId: string,
): Promise<Record<'delivered' | 'failed' | 'canceled', number>> {
  const open = await tx
    .selectFrom('replayed_deliveries as open')
    .leftJoin('deliveries as d', 'd.id', 'open.delivery_id')
    .select(['open.delivery_id', 'd.status'])
    .where('open.replay_id', '=', replayId)
    .execute()
  const results = { delivered: 0, failed: 0, canceled: 0 }
  const ended = open.filter(({ status }) => status !== 'pending')
  // One whose bot was deleted is gone.
  for (const { status } of ended) if (status !== 'pending') results[status ?? 'canceled'] += 1
  if (ended.length > 0) {
    const ids = ended.map(({ delivery_id }) => delivery_id)
    await tx
      .deleteFrom('replayed_deliveries')
      .where('replay_id', '=', replayId)
      .where('delivery_id', 'in', ids)
      .execute()
  }
  return results
}

/** Forgets the deliveries of a replay that is not followed any more. */
export async function deleteOpen(tx: Tx, replayId: string): Promise<void> {
  await tx.deleteFrom('replayed_deliveries').where('replay_id', '=', replayId).execute()
}

/** The given deliveries that belong to some bots and have some statuses, oldest first. */
export async function listGiven(
  db: Db,
  ids: readonly string[],
  botIds: readonly string[],
  statuses: readonly DeliveryRow['status'][],
): Promise<DeliveryRow[]> {
  const own = new Set(botIds)
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify([...new Set(ids)])}`))
    .crossJoin('deliveries')
    .whereRef('deliveries.id', '=', 'given.value')
    .selectAll('deliveries')
    .orderBy('created_at')
    .orderBy('deliveries.id')
    .execute()
  return rows.filter(({ bot_id, status }) => own.has(bot_id) && statuses.includes(status))
}

/** Locks the finished ones of the given deliveries, of any bot; skips those that are locked. */
export async function lockFinished(tx: Tx, ids: readonly string[]): Promise<DeliveryRow[]> {
  if (ids.length === 0) return []
  const { jsonTexts, lockFreeRows } = dialectOf(tx)
  const given = tx
    .selectFrom(jsonTexts(sql`${JSON.stringify(ids)}`))
    .crossJoin('deliveries')
    .whereRef('deliveries.id', '=', 'given.value')
    .selectAll('deliveries')
    .where('status', '<>', 'pending')
    .orderBy('created_at')
    .orderBy('deliveries.id')
  return await lockFreeRows(given).execute()
}

/** Deletes replays that ended before an ISO 8601 time, at most `limit`; returns how many. */
export async function deleteOld(tx: Tx, before: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('delivery_replays')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('delivery_replays').select('id').where('ended_at', '<', before).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** @returns how many rows of a deleted bot were deleted, at most `limit` of what was replayed */
export async function deleteSomeOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const open = await tx
    .deleteFrom('replayed_deliveries')
    .where('bot_id', '=', botId)
    .where('delivery_id', 'in', ({ selectFrom }) =>
      selectFrom('replayed_deliveries')
        .select('delivery_id')
        .where('bot_id', '=', botId)
        .limit(limit),
    )
    .executeTakeFirst()
  if (open.numDeletedRows > 0n) return Number(open.numDeletedRows)
  const replays = await tx
    .deleteFrom('delivery_replays')
    .where('bot_id', '=', botId)
    .executeTakeFirst()
  return Number(replays.numDeletedRows)
}

/** Moves the replays of a bot with it; those of all bots of its former workspace stay there, and leave it out from now on. */
export async function moveReplays(tx: Tx, botId: string, to: string): Promise<void> {
  await tx
    .updateTable('delivery_replays')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .execute()
}

/** Deletes the replays of a workspace; what they replayed goes with its bots. */
export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('delivery_replays').where('workspace_id', '=', workspaceId).execute()
}

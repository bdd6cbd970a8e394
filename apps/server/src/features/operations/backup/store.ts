import { isoTime } from '../../../platform/clock.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BackupRunRow } from './table.js'

/** Milliseconds after which a backup whose process fell silent counts as interrupted. */
export const leaseMs = 60_000
/** Finished runs that are kept: `doctor` and the metrics need the last ones. */
const keptRuns = 200

/** Makes runs begin one after the other, in all processes, until the transaction ends. */
export async function lockRuns(tx: Tx): Promise<void> {
  await dialectOf(tx).holdName(tx, 'backup_runs')
}

/** The runs that have not ended, whether or not their leases have expired. */
export async function findRunning(db: Db): Promise<BackupRunRow[]> {
  return await db
    .selectFrom('backup_runs')
    .selectAll()
    .where('state', '=', 'running')
    .orderBy('started_at')
    .execute()
}

/** Adds a run, and deletes old ones. */
export async function insertRun(
  tx: Tx,
  run: Pick<BackupRunRow, 'id' | 'owner' | 'target' | 'started_at' | 'lease_until'>,
): Promise<void> {
  await tx
    .insertInto('backup_runs')
    .values({ ...run, state: 'running', ended_at: null, error: null, stored_bytes: null })
    .execute()
  const kept = tx.selectFrom('backup_runs').select('id').orderBy('started_at', 'desc')
  await tx
    .deleteFrom('backup_runs')
    .where('state', '<>', 'running')
    .where('id', 'not in', kept.limit(keptRuns))
    .execute()
}

/**
 * Extends the lease of a run. Returns false if it is not in force any more, also if no other run began: contents may
 * have been removed since.
 */
export async function extendLease(tx: Tx, id: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('backup_runs')
    .set({ lease_until: isoTime(now + leaseMs) })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('lease_until', '>', isoTime(now))
    .where('lease_until', '<=', latestLease(now))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Ends a run. Returns false if it counts as interrupted already. */
export async function endRun(
  tx: Tx,
  id: string,
  end: Pick<BackupRunRow, 'state' | 'ended_at' | 'error' | 'stored_bytes'>,
): Promise<boolean> {
  const row = await tx
    .updateTable('backup_runs')
    .set(end)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Whether a run is in force. A lease that ends later than any that begins now was made by a clock that was ahead: it
 * would keep contents, and stop backups, for as long as that was wrong.
 */
export async function isAnyRunning(db: Db, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('backup_runs')
    .select('id')
    .where('state', '=', 'running')
    .where('lease_until', '>', isoTime(now))
    .where('lease_until', '<=', latestLease(now))
    .executeTakeFirst()
  return row !== undefined
}

/** The last run that succeeded, to any target or to one, as far as a clock knows. */
export async function findLastSuccess(
  db: Db,
  { now, target }: { now: number; target?: string | undefined },
): Promise<BackupRunRow | undefined> {
  let query = db
    .selectFrom('backup_runs')
    .selectAll()
    .where('state', '=', 'succeeded')
    .where('started_at', '<=', latestStart(now))
  if (target !== undefined) query = query.where('target', '=', target)
  return await query.orderBy('started_at', 'desc').limit(1).executeTakeFirst()
}

/** Runs that failed or were interrupted after an ISO 8601 time, as far as a clock knows. */
export async function countFailuresAfter(db: Db, after: string, now: number): Promise<number> {
  const { count } = await db
    .selectFrom('backup_runs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', 'in', ['failed', 'interrupted'])
    .where('started_at', '>', after)
    .where('started_at', '<=', latestStart(now))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Clocks of processes that share a database differ by less. */
const clockDifferenceMs = leaseMs

/** A run that begins later was made while a clock was ahead, and says nothing about the time since. */
function latestStart(now: number): string {
  return isoTime(now + clockDifferenceMs)
}

/** Latest possible end of a lease, as ISO 8601. */
export function latestLease(now: number): string {
  return isoTime(now + leaseMs + clockDifferenceMs)
}

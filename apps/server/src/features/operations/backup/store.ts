import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BackupRunRow } from './table.js'

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

/** Extends the lease of a run. Returns false if the run has been marked as interrupted. */
export async function extendLease(tx: Tx, id: string, until: string): Promise<boolean> {
  const row = await tx
    .updateTable('backup_runs')
    .set({ lease_until: until })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Ends a run. */
export async function endRun(
  tx: Tx,
  id: string,
  end: Pick<BackupRunRow, 'state' | 'ended_at' | 'error' | 'stored_bytes'>,
): Promise<void> {
  await tx
    .updateTable('backup_runs')
    .set(end)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
}

/** Whether there is a run whose lease lasts beyond an ISO 8601 time. */
export async function isAnyRunning(db: Db, now: string): Promise<boolean> {
  const row = await db
    .selectFrom('backup_runs')
    .select('id')
    .where('state', '=', 'running')
    .where('lease_until', '>', now)
    .executeTakeFirst()
  return row !== undefined
}

/** The last run that succeeded, to any target or to one. */
export async function findLastSuccess(db: Db, target?: string): Promise<BackupRunRow | undefined> {
  let query = db.selectFrom('backup_runs').selectAll().where('state', '=', 'succeeded')
  if (target !== undefined) query = query.where('target', '=', target)
  return await query.orderBy('started_at', 'desc').limit(1).executeTakeFirst()
}

/** Runs that failed or were interrupted after an ISO 8601 time. */
export async function countFailuresAfter(db: Db, after: string): Promise<number> {
  const { count } = await db
    .selectFrom('backup_runs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', 'in', ['failed', 'interrupted'])
    .where('started_at', '>', after)
    .executeTakeFirstOrThrow()
  return Number(count)
}

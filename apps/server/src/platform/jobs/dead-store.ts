import type { Db, Tx } from '../db/schema.js'
import type { JobRow } from './store.js'

/** The number of jobs of one kind in one state. */
export interface StateCount {
  kind: string
  state: JobRow['state']
  count: number
  /** The earliest time that one of them is due. */
  earliest: string | null
}

/** Counts the jobs of each kind and state. */
export async function countJobs(db: Db): Promise<StateCount[]> {
  return db
    .selectFrom('jobs')
    .select((eb) => [
      'kind',
      'state',
      eb.fn.countAll<number>().as('count'),
      eb.fn.min('due_at').as('earliest'),
    ])
    .groupBy(['kind', 'state'])
    .orderBy('kind')
    .execute()
}

/** The jobs that were given up, last first. */
export async function findDeadJobs(
  db: Db,
  kind: string | undefined,
  limit: number,
): Promise<JobRow[]> {
  let query = db.selectFrom('jobs').selectAll().where('state', '=', 'dead')
  if (kind !== undefined) query = query.where('kind', '=', kind)
  return query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

/** Gives a dead job all its attempts back. Returns its kind, if there is such a job. */
export async function reviveJob(tx: Tx, id: string, now: string): Promise<string | undefined> {
  const row = await tx
    .updateTable('jobs')
    .set({ state: 'waiting', due_at: now, attempts: 0, interruptions: 0, updated_at: now })
    .where('id', '=', id)
    .where('state', '=', 'dead')
    .returning('kind')
    .executeTakeFirst()
  return row?.kind
}

/** Deletes jobs that were given up before a time, at most `limit`. Returns how many. */
export async function deleteDeadJobs(tx: Tx, before: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('jobs')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('id')
        .where('state', '=', 'dead')
        .where('updated_at', '<', before)
        .orderBy('updated_at')
        .limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

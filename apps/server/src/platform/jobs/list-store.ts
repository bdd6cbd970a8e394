import { type Page, type PageRequest, paginate } from '../db/paginate.js'
import type { Db, Tx } from '../db/schema.js'
import type { JobRow } from './store.js'

/** Restricts a list of jobs; undefined for anything. */
export interface JobFilter {
  kind?: string | undefined
  state?: JobRow['state'] | undefined
}

/** Jobs as the primary key has them: ids are in the order of time. Dead ones have an index of their own. */
export async function pageJobs(
  db: Db,
  { kind, state }: JobFilter,
  page: PageRequest<'id' | 'updated_at'>,
): Promise<Page<JobRow>> {
  let query = db.selectFrom('jobs').selectAll()
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (state !== undefined) query = query.where('state', '=', state)
  return await paginate(query, page)
}

export async function findJob(db: Db | Tx, id: string): Promise<JobRow | undefined> {
  return await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Deletes a dead job; false if it is not there or not dead. */
export async function deleteDeadJob(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('jobs')
    .where('id', '=', id)
    .where('state', '=', 'dead')
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The jobs that enqueue themselves again, by kind. */
export async function findRecurring(db: Db, kinds: readonly string[]): Promise<JobRow[]> {
  if (kinds.length === 0) return []
  return await db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', 'in', kinds)
    .where('key', '=', recurringKey)
    .execute()
}

/** Key of jobs that enqueue themselves again. */
export const recurringKey = 'all'

/** The last runs of recurring jobs. */
export async function findRuns(db: Db) {
  return await db.selectFrom('job_runs').selectAll().execute()
}

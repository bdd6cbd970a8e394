import { type Selectable, sql } from 'kysely'
import { dialectOf } from '../db/dialect.js'
import { prepared } from '../db/prepared.js'
import type { Db, Tx } from '../db/schema.js'
import type { ScopeLimits } from './handler.js'
import type { JobsTable } from './table.js'

export type JobRow = Selectable<JobsTable>

/** One claim of one job: identifies the attempt until another process claims the job. */
export type ClaimRef = Pick<JobRow, 'id' | 'claims'>

/** Priorities of jobs, first to last, as they are stored. */
const priorities = [0, 1, 2] as const
const highestPriority = 0
export const lowestPriority = 2

/** Last error of a job that is claimed from a worker whose lease expired. */
const silentWorker = 'The worker stopped without a word and its lease ran out'

/** Last error of a job that is deferred, because the leases of its workers expired repeatedly. */
const silentWorkers = 'Its workers stopped without a word repeatedly, so it is deferred'

/** Adds a job; undefined if one stands under its key already. */
export async function insertJob(tx: Tx, job: JobRow): Promise<string | undefined> {
  const row = await tx
    .insertInto('jobs')
    .values(job)
    .onConflict((conflict) => conflict.columns(['kind', 'key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Locks the job that stands under a key. */
export async function lockJobOfKey(
  tx: Tx,
  kind: string,
  key: string | null,
): Promise<JobRow | undefined> {
  const query = tx.selectFrom('jobs').selectAll().where('kind', '=', kind).where('key', '=', key)
  return dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** A request of a runner to claim jobs. */
export interface ClaimRequest {
  kind: string
  /** Maximum number of jobs to claim. */
  limit: number
  /** Limits of scopes; undefined if the jobs of the kind have none. */
  perScope: ScopeLimits | undefined
  /** The number of jobs that the runner works on, by their scope. */
  running: ReadonlyMap<string, number>
  /** Name of the runner. */
  owner: string
  /** ISO 8601 times. */
  now: string
  leaseUntil: string
  /** Jobs that the runner still works on, whatever the table contains about them. */
  held: readonly string[]
  /** Returns when to retry a job after consecutive losses of its worker, as an ISO 8601 time; undefined for now. */
  postpone(interruptions: number): string | undefined
}

/** A job as it was claimed. */
export interface ClaimedJob extends JobRow {
  /** Whether it was taken over from a worker that let the lease run out. */
  wasRunning: boolean
}

interface Claims {
  claimed: ClaimedJob[]
  /** Jobs that are deferred, because they lost their workers too often. */
  postponed: JobRow[]
}

/**
 * Takes jobs that are due, or whose worker let the lease run out: by priority, then by how long they
 * have been due. Jobs that another transaction is just taking are passed over.
 */
export async function claimJobs(tx: Tx, request: ClaimRequest): Promise<Claims> {
  const claimed: ClaimedJob[] = []
  const postponed: JobRow[] = []
  const running = new Map(request.running)
  // One priority and scope at a time, so that each is a range of the index, however many jobs wait for later.
  for (const priority of priorities) {
    for (const { scope, room } of await findOpenScopes(tx, { ...request, running }, priority)) {
      const limit = Math.min(room, request.limit - claimed.length)
      if (limit <= 0) break
      for (const row of await claimOfScope(tx, { ...request, limit, priority, scope })) {
        const later = row.wasRunning && request.postpone(row.interruptions)
        if (later) postponed.push(await postpone(tx, row, later))
        else {
          claimed.push(row)
          running.set(scope, (running.get(scope) ?? 0) + 1)
        }
      }
    }
  }
  return { claimed, postponed }
}

/** A scope that may have further jobs now. */
interface OpenScope {
  scope: string
  /** How many. */
  room: number
  /** When its first job is due or its lease ends. */
  dueAt: string | undefined
}

/** Finds the scopes of which further jobs may begin: first those of which the fewest run, then those that wait longest. */
async function findOpenScopes(
  db: Db,
  { kind, perScope, running }: Pick<ClaimRequest, 'kind' | 'perScope' | 'running'>,
  priority: number,
): Promise<OpenScope[]> {
  if (perScope === undefined) {
    return [{ scope: '', room: Number.POSITIVE_INFINITY, dueAt: undefined }]
  }
  const limit = priority === highestPriority ? perScope.high : perScope.others
  const roomOf = (scope: string) => limit - (running.get(scope) ?? 0)
  const scopes = await listScopes(db, kind, priority)
  return scopes
    .map(({ scope, due_at }) => ({ scope, room: roomOf(scope), dueAt: due_at }))
    .filter(({ room }) => room > 0)
    .toSorted((a, b) => b.room - a.room || (a.dueAt < b.dueAt ? -1 : 1))
}

/** Lists the scopes that have jobs, with the time of the first one: a look into the index for each, however many jobs wait. */
async function listScopes(
  db: Db,
  kind: string,
  priority: number,
): Promise<{ scope: string; due_at: string }[]> {
  const ofPriority = sql`kind = ${kind} and priority = ${priority}`
  const { rows } = await sql<{ scope: string; due_at: string | null }>`
    with recursive scopes (scope) as (
      select min(scope) from jobs where ${ofPriority}
      union all
      select (select min(jobs.scope) from jobs where ${ofPriority} and jobs.scope > scopes.scope)
      from scopes where scopes.scope is not null
    )
    select scope, (select min(due_at) from jobs where ${ofPriority} and jobs.scope = scopes.scope) as due_at
    from scopes where scope is not null`.execute(db)
  return rows.flatMap(({ scope, due_at }) => (due_at === null ? [] : [{ scope, due_at }]))
}

/** Defers a job that was just taken over, as if the lost attempt had not begun. */
async function postpone(tx: Tx, row: JobRow, due_at: string): Promise<JobRow> {
  const { id, attempts } = row
  const change = { due_at, attempts: attempts - 1, last_error: silentWorkers }
  await patchJob(tx, id, { ...change, state: 'waiting' })
  return { ...row, ...change }
}

async function claimOfScope(
  tx: Tx,
  {
    kind,
    priority,
    scope,
    limit,
    owner,
    now,
    leaseUntil,
    held,
  }: ClaimRequest & { priority: number; scope: string },
): Promise<ClaimedJob[]> {
  let query = tx
    .selectFrom('jobs')
    .select(['id', 'state'])
    .where('kind', '=', kind)
    .where('priority', '=', priority)
    .where('scope', '=', scope)
    .where('due_at', '<=', now)
    // A run that was enqueued meanwhile stands in for the retry of an attempt that was lost.
    .where((eb) => eb.or([eb('follow_up_at', 'is', null), eb('follow_up_at', '<=', now)]))
    .orderBy('due_at')
    .limit(limit)
  if (held.length > 0) query = query.where('id', 'not in', held)
  // A query of its own: an update returns what it wrote, and not the state of before.
  const due = await dialectOf(tx).lockFreeRows(query).execute()
  if (due.length === 0) return []
  const states = new Map(due.map(({ id, state }) => [id, state]))
  const rows = await tx
    .updateTable('jobs')
    .set((eb) => ({
      state: 'running',
      owner,
      due_at: leaseUntil,
      updated_at: now,
      claims: eb('claims', '+', 1),
      // A lost attempt does not count: the job need not be why its worker ended.
      attempts: eb
        .case()
        .when('follow_up_at', 'is not', null)
        .then(1)
        .when('state', '=', 'running')
        .then(eb.ref('attempts'))
        .else(eb('attempts', '+', 1))
        .end(),
      interruptions: eb
        .case()
        .when('state', '=', 'running')
        .then(eb('interruptions', '+', 1))
        .else(eb.ref('interruptions'))
        .end(),
      follow_up_at: null,
      last_error: eb
        .case()
        .when('state', '=', 'running')
        .then(silentWorker)
        .else(eb.ref('last_error'))
        .end(),
    }))
    .where('id', 'in', [...states.keys()])
    .returningAll()
    .execute()
  return rows.map((row) => ({ ...row, wasRunning: states.get(row.id) === 'running' }))
}

const selectNextDue = prepared<{ kind: string }>()((db, p) => {
  const earliest = (priority: number) =>
    db
      .selectFrom('jobs')
      .select((eb) => eb.fn.min('due_at').as('due_at'))
      .where('kind', '=', p('kind'))
      .where('priority', '=', priority)
      .where('scope', '=', '')
  const [first, ...rest] = priorities
  const all = rest.reduce((query, each) => query.unionAll(earliest(each)), earliest(first))
  return db.selectFrom(all.as('due')).select((eb) => eb.fn.min('due.due_at').as('due_at'))
})

/** Finds when the next job of a kind that may begin is due or its lease ends; undefined if there is none. */
export async function findNextDue(
  db: Db,
  request: Pick<ClaimRequest, 'kind' | 'perScope' | 'running'>,
): Promise<string | undefined> {
  if (request.perScope === undefined) {
    const row = await selectNextDue.first(db, { kind: request.kind })
    return row?.due_at ?? undefined
  }
  const times: (string | undefined)[] = []
  for (const priority of priorities) {
    const open = await findOpenScopes(db, request, priority)
    times.push(...open.map(({ dueAt }) => dueAt))
  }
  return times.toSorted()[0]
}

/**
 * Lets jobs be claimed at once whose workers are certainly gone. They still count as taken over from a
 * silent worker: it may be the job that ends workers.
 * @returns how many
 */
export async function releaseAll(tx: Tx, now: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('jobs')
    .set({ due_at: now })
    .where('state', '=', 'running')
    .where('due_at', '>', now)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Prolongs the leases that `owner` still has of these jobs, and returns those. */
export async function extendLeases(
  tx: Tx,
  owner: string,
  ids: readonly string[],
  leaseUntil: string,
): Promise<ClaimRef[]> {
  return tx
    .updateTable('jobs')
    .set({ due_at: leaseUntil })
    .where('owner', '=', owner)
    .where('state', '=', 'running')
    .where('id', 'in', ids)
    .returning(['id', 'claims'])
    .execute()
}

/** Locks the job as it is now, if the claim still holds. */
export async function lockClaimed(tx: Tx, { id, claims }: ClaimRef): Promise<JobRow | undefined> {
  const query = tx
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', id)
    .where('claims', '=', claims)
    .where('state', '=', 'running')
  return dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Changes a job that this transaction has locked. */
export async function patchJob(tx: Tx, id: string, change: Partial<JobRow>): Promise<void> {
  await tx.updateTable('jobs').set(change).where('id', '=', id).execute()
}

/** Removes a job that this transaction has locked. */
export async function deleteJob(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('jobs').where('id', '=', id).execute()
}

/** Keeps the end of a run of a recurring job, instead of that of the run before. */
export async function noteRun(
  tx: Tx,
  kind: string,
  ended_at: string,
  error: string | null,
): Promise<void> {
  await tx
    .insertInto('job_runs')
    .values({ kind, ended_at, error })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet({ ended_at, error }))
    .execute()
}

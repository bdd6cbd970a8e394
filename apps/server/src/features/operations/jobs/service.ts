import { ApiError, type contract, maxRetried, type Query } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import {
  deleteDeadJob,
  findJob,
  findRecurring,
  findRuns,
  pageJobs,
  recurringKey,
} from '../../../platform/jobs/list-store.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { JobRow } from '../../../platform/jobs/store.js'
import type { AccountsService } from '../../tenancy/accounts/index.js'
import { infoOf } from './kinds.js'

/** A kind of jobs of this version, and how often it recurs. */
export interface KnownKind {
  kind: string
  /** Milliseconds; undefined for jobs that something else enqueues. */
  everyMs: number | undefined
}

export interface JobsDeps {
  db: Db
  run: Run
  pager: Pager
  queue: Pick<Queue, 'enqueue' | 'stats' | 'listDead' | 'requeueDead'>
  accounts: Pick<AccountsService, 'requireOperator'>
  /** The kinds that the slices have. */
  kinds: () => readonly KnownKind[]
}

type ListQuery = Query<typeof contract.jobs.list>

export interface JobsPage extends Page<JobRow> {
  /** On the first page only. */
  kinds: { kind: string; waiting: number; running: number; dead: number }[] | undefined
}

export interface ScheduleRecord {
  kind: string
  everyMs: number
  job: JobRow | undefined
  last: { ended_at: string; error: string | null } | undefined
}

/** Jobs that one transaction retries. */
const retriedAtOnce = 500
/** Recurring jobs must not be given up because of a failure that lasts. */
const scheduleAttempts = 1000

/** Creates the service with which the operator lists, retries and drops background jobs. */
export function createJobsService({ db, run, pager, queue, accounts, kinds }: JobsDeps) {
  function unknown(id: string): ApiError {
    return new ApiError(
      'ResourceNotFound',
      `There is no job ${id}: jobs that are done are deleted.`,
    )
  }

  async function requireDead(id: string): Promise<JobRow> {
    const job = await findJob(db, id)
    if (job === undefined) throw unknown(id)
    if (job.state === 'dead') return job
    throw notDead(job)
  }

  function notDead({ id, state }: Pick<JobRow, 'id' | 'state'>): ApiError {
    return new ApiError('RelationConflict', `The job ${id} is ${state}, and not dead.`)
  }

  async function countKinds(): Promise<NonNullable<JobsPage['kinds']>> {
    const none = { waiting: 0, running: 0, dead: 0 }
    const all = new Map(kinds().map(({ kind }) => [kind, { kind, ...none }]))
    for (const { kind, waiting, running, dead } of await queue.stats()) {
      all.set(kind, { kind, waiting, running, dead })
    }
    return [...all.values()].sort((one, other) => (one.kind < other.kind ? -1 : 1))
  }

  async function listSchedules(): Promise<ScheduleRecord[]> {
    const recurring = kinds().flatMap(({ kind, everyMs }) =>
      everyMs === undefined ? [] : [{ kind, everyMs }],
    )
    const jobs = await findRecurring(
      db,
      recurring.map(({ kind }) => kind),
    )
    const runs = await findRuns(db)
    return recurring
      .map(({ kind, everyMs }) => ({
        kind,
        everyMs,
        job: jobs.find((job) => job.kind === kind),
        last: runs.find((last) => last.kind === kind),
      }))
      .sort((one, other) => (one.kind < other.kind ? -1 : 1))
  }

  return {
    async list(actor: AccountActor, query: ListQuery): Promise<JobsPage> {
      await accounts.requireOperator(actor)
      const { nextToken, pageSize, ...filter } = query
      const page = pager.page({
        operation: 'listJobs',
        scope: 'server',
        filter,
        // Each has an index with this order.
        sort: filter.state === 'dead' ? ('updated_at' as const) : ('id' as const),
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const found = await pageJobs(db, filter, page)
      return { ...found, kinds: page.after === undefined ? await countKinds() : undefined }
    },

    async retry(actor: AccountActor, id: string): Promise<JobRow> {
      await accounts.requireOperator(actor)
      const job = await requireDead(id)
      if (!(await run((tx) => queue.requeueDead(tx, id)))) throw unknown(id)
      return (await findJob(db, id)) ?? { ...job, state: 'waiting', attempts: 0 }
    },

    /** Retries all dead jobs of a kind, some per transaction. */
    async retryAll(actor: AccountActor, kind: string) {
      await accounts.requireOperator(actor)
      const known = new Set((await countKinds()).map((each) => each.kind))
      if (!known.has(kind)) {
        throw new ApiError('ReferenceNotFound', `body.kind: there are no jobs of the kind ${kind}.`)
      }
      let retried = 0
      while (retried < maxRetried) {
        const dead = await queue.listDead({ kind, limit: retriedAtOnce })
        if (dead.length === 0) return { retried, hasMore: false }
        retried += await run(async (tx) => {
          let revived = 0
          for (const { id } of dead) if (await queue.requeueDead(tx, id)) revived += 1
          return revived
        })
      }
      const [more] = await queue.listDead({ kind, limit: 1 })
      return { retried, hasMore: more !== undefined }
    },

    async drop(actor: AccountActor, id: string): Promise<void> {
      await accounts.requireOperator(actor)
      const job = await requireDead(id)
      const { isRefused, dropping } = infoOf(job.kind)
      if (isRefused) {
        throw new ApiError('ReferenceConstraint', `A job of the kind ${job.kind}. ${dropping}`)
      }
      const dropped = await run((tx) => deleteDeadJob(tx, id), { mayUseReserve: true })
      if (dropped) return
      // It was retried meanwhile.
      throw unknown(id)
    },

    async schedules(actor: AccountActor): Promise<ScheduleRecord[]> {
      await accounts.requireOperator(actor)
      return await listSchedules()
    },

    /** Makes a recurring job due at once; a running one runs once more. */
    async runNow(actor: AccountActor, kind: string): Promise<ScheduleRecord> {
      await accounts.requireOperator(actor)
      const isKnown = kinds().some((each) => each.kind === kind && each.everyMs !== undefined)
      if (!isKnown) {
        throw notFound('recurring job of the kind', kind)
      }
      await run((tx) =>
        queue.enqueue(tx, {
          kind,
          key: recurringKey,
          payload: {},
          maxAttempts: scheduleAttempts,
        }),
      )
      const record = (await listSchedules()).find((each) => each.kind === kind)
      if (record === undefined) throw new Error(`The schedule ${kind} is gone`)
      return record
    },
  }
}

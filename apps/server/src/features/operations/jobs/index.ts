import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { JobRow } from '../../../platform/jobs/store.js'
import type { Feature } from '../../feature.js'
import { infoOf } from './kinds.js'
import { createJobsService, type JobsDeps, type JobsPage, type ScheduleRecord } from './service.js'

export type { KnownKind } from './service.js'

const { jobs } = contract

/** Background jobs, for the operator of the server. */
export function createJobs(deps: JobsDeps): Feature {
  return { name: 'jobs', routes: jobsRoutes(deps) }
}

function jobsRoutes(deps: JobsDeps): Route[] {
  const service = createJobsService(deps)
  return [
    route(jobs.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return {
        ...(page.kinds && { kinds: page.kinds.map(toKind) }),
        jobs: page.rows.map(toJob),
        meta: toPageMeta(page),
      }
    }),

    route(jobs.retry, async ({ actor, params }) => ({
      job: toJob(await service.retry(actor, params.id)),
    })),

    route(jobs.retryAll, async ({ actor, body }) => service.retryAll(actor, body.kind)),

    route(jobs.drop, async ({ actor, params }) => {
      await service.drop(actor, params.id)
      return {}
    }),

    route(jobs.schedules, async ({ actor }) => ({
      schedules: (await service.schedules(actor)).map(toSchedule),
    })),

    route(jobs.runSchedule, async ({ actor, params }) => ({
      schedule: toSchedule(await service.runNow(actor, params.kind)),
    })),
  ]
}

type WireList = Output<typeof jobs.list>
type WireKind = NonNullable<WireList['kinds']>[number]
type WireSchedule = Output<typeof jobs.runSchedule>['schedule']

function toKind(counts: NonNullable<JobsPage['kinds']>[number]): WireKind {
  const { about, dropping, isRefused } = infoOf(counts.kind)
  return { ...counts, about, mayBeDropped: !isRefused, dropping }
}

function toJob(row: JobRow): WireList['jobs'][number] {
  const nextRunAt = nextRunOf(row)
  return {
    id: row.id,
    kind: row.kind,
    ...(row.key !== null && { key: row.key }),
    state: row.state,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    ...(nextRunAt !== undefined && { nextRunAt }),
    ...(row.last_error !== null && { lastError: row.last_error }),
    ...(row.owner !== null && { worker: row.owner }),
  }
}

/** While a job runs, `due_at` is the end of its lease. */
function nextRunOf({ state, due_at, follow_up_at }: JobRow): string | undefined {
  return (state === 'waiting' ? due_at : state === 'running' ? follow_up_at : null) ?? undefined
}

function toSchedule({ kind, everyMs, job, last }: ScheduleRecord): WireSchedule {
  const nextRunAt = job && nextRunOf(job)
  return {
    kind,
    about: infoOf(kind).about,
    everyMs,
    ...(job && { state: job.state }),
    ...(nextRunAt !== undefined && { nextRunAt }),
    ...(last && { lastRunAt: last.ended_at }),
    ...(last && last.error !== null && { lastError: last.error }),
  }
}

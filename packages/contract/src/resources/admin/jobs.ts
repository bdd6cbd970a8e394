import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, OneOf, PageMeta, paging, Text, Timestamp, wrap } from '../../shared.js'

const jobStates: ['waiting', 'running', 'dead'] = ['waiting', 'running', 'dead']

const onlyOperator = 'Only for the operator of the server: the account of the first start.'

/** Maximum number of jobs that one call retries. */
export const maxRetried = 10_000

const Kind = (description: string) => Text(100, description, 1)

const JobKind = Type.Object(
  {
    kind: Type.String({ description: 'Name of the kind, such as `search.index`.' }),
    about: Type.String({ description: 'Purpose of jobs of the kind.' }),
    waiting: Type.Integer({
      minimum: 0,
      description: 'Jobs that wait for their time or for a worker.',
    }),
    running: Type.Integer({ minimum: 0, description: 'Jobs that a worker is doing.' }),
    dead: Type.Integer({ minimum: 0, description: 'Jobs that were given up.' }),
    mayBeDropped: Type.Boolean({
      description:
        'Whether a dead job of the kind may be dropped; otherwise it can only be retried.',
    }),
    dropping: Type.String({
      description: 'Effect of dropping a dead job of the kind, or the reason why it is refused.',
    }),
  },
  { title: 'JobKind', description: 'A kind of background work, with the number of its jobs.' },
)

const Job = Type.Object(
  {
    id: Id('Id of the job.'),
    kind: Type.String({ description: 'Kind of the job.' }),
    key: Type.Optional(
      Type.String({
        description: 'Subject of the job, such as the id of a file; absent if it has no key.',
      }),
    ),
    state: OneOf(
      jobStates,
      '`waiting`: for its time or a worker; `running`: a worker is doing it; `dead`: given up.',
    ),
    createdAt: Timestamp('Time at which it was first requested.'),
    updatedAt: Timestamp(
      'Time at which its state last changed; for a dead job, when it was given up.',
    ),
    attempts: Type.Integer({
      minimum: 0,
      description: 'Attempts so far, including the running one.',
    }),
    maxAttempts: Type.Integer({ minimum: 1, description: 'Attempts before it is given up.' }),
    nextRunAt: Type.Optional(
      Timestamp(
        'Earliest time of the next attempt of a waiting job, or of another run that was requested while it runs.',
      ),
    ),
    lastError: Type.Optional(Type.String({ description: 'Reason why the last attempt failed.' })),
    worker: Type.Optional(
      Type.String({
        description: 'Process that runs it or ran it last; absent before the first attempt.',
      }),
    ),
  },
  { title: 'Job', description: 'Background work that is not done yet, or was given up.' },
)

const JobSchedule = Type.Object(
  {
    kind: Type.String({ description: 'Kind of the job.' }),
    about: Type.String({ description: 'Purpose of the job.' }),
    everyMs: Type.Integer({
      minimum: 1,
      description: 'Milliseconds from the end of a run to the next one.',
    }),
    state: Type.Optional(
      OneOf(jobStates, 'State of its job; absent if there is none before the next start.'),
    ),
    nextRunAt: Type.Optional(
      Timestamp('Time at which it runs next; absent while it runs or is dead.'),
    ),
    lastRunAt: Type.Optional(
      Timestamp('Time at which its last run ended; absent before the first one.'),
    ),
    lastError: Type.Optional(
      Type.String({ description: 'Reason why its last run failed; absent if it did not.' }),
    ),
  },
  { title: 'JobSchedule', description: 'A job that the server runs again and again.' },
)

const one = Type.Object({ id: Id('Id of the job.') })

/** Background work of the server, for its operator. */
export const jobs = {
  list: operation({
    id: 'listJobs',
    method: 'GET',
    path: '/v1/admin/jobs',
    tag: 'Service',
    summary: 'List background jobs',
    description: `${onlyOperator} Jobs that are done are not listed.`,
    auth: 'account',
    permission: 'server:read',
    query: Type.Object({
      ...paging,
      kind: Type.Optional(Kind('Only jobs of this kind.')),
      state: Type.Optional(OneOf(jobStates, 'Only jobs in this state.')),
    }),
    response: json(
      Type.Object({
        kinds: Type.Optional(
          Type.Array(JobKind, {
            description: 'All kinds of jobs, by name. Absent on pages after the first one.',
          }),
        ),
        jobs: Type.Array(Job, {
          description:
            'Jobs, newest first; with `state=dead`, those that were given up last first.',
        }),
        meta: PageMeta,
      }),
    ),
    errors: ['Forbidden'],
  }),
  retry: operation({
    id: 'retryJob',
    method: 'POST',
    path: '/v1/admin/jobs/{id}/retry',
    tag: 'Service',
    summary: 'Retry a dead job',
    description: `${onlyOperator} The job gets all its attempts back and is due at once.`,
    auth: 'account',
    permission: 'server:write',
    audit: { none: 'Concerns the server and no workspace.' },
    params: one,
    response: json(wrap('job', Job)),
    errors: ['Forbidden', 'ResourceNotFound', 'RelationConflict'],
  }),
  retryAll: operation({
    id: 'retryJobs',
    method: 'POST',
    path: '/v1/admin/jobs/retry',
    tag: 'Service',
    summary: 'Retry all dead jobs of a kind',
    description: `${onlyOperator} At most ${maxRetried} in one call.`,
    auth: 'account',
    permission: 'server:write',
    audit: { none: 'Concerns the server and no workspace.' },
    body: Type.Object({ kind: Kind('The kind of jobs to retry.') }),
    response: json(
      Type.Object({
        retried: Type.Integer({ minimum: 0, description: 'Number of jobs that are due again.' }),
        hasMore: Type.Boolean({ description: 'Whether there are more: call again.' }),
      }),
    ),
    errors: ['Forbidden', 'ReferenceNotFound'],
  }),
  drop: operation({
    id: 'dropJob',
    method: 'DELETE',
    path: '/v1/admin/jobs/{id}',
    tag: 'Service',
    summary: 'Drop a dead job',
    description: `${onlyOperator} \`dropping\` of its kind says what that means. Refused for kinds whose work nothing else would do.`,
    auth: 'account',
    permission: 'server:write',
    audit: { none: 'Concerns the server and no workspace.' },
    params: one,
    response: json(Empty),
    errors: ['Forbidden', 'ResourceNotFound', 'RelationConflict', 'ReferenceConstraint'],
  }),
  schedules: operation({
    id: 'listJobSchedules',
    method: 'GET',
    path: '/v1/admin/job-schedules',
    tag: 'Service',
    summary: 'List the jobs that run again and again',
    description: onlyOperator,
    auth: 'account',
    permission: 'server:read',
    response: json(
      Type.Object({ schedules: Type.Array(JobSchedule, { description: 'Schedules, by kind.' }) }),
    ),
    errors: ['Forbidden'],
  }),
  runSchedule: operation({
    id: 'runJobSchedule',
    method: 'POST',
    path: '/v1/admin/job-schedules/{kind}/run',
    tag: 'Service',
    summary: 'Run a recurring job now',
    description: `${onlyOperator} If it is running, it runs once more afterwards.`,
    auth: 'account',
    permission: 'server:write',
    audit: { none: 'Concerns the server and no workspace.' },
    params: Type.Object({ kind: Kind('Kind of the job.') }),
    response: json(wrap('schedule', JobSchedule)),
    errors: ['Forbidden', 'ResourceNotFound'],
  }),
}

import type { JsonColumn, TimeColumn } from '../db/columns.js'

/** Work that is yet to be done, being done, or given up. What is done has no row any more. */
export interface JobsTable {
  id: string
  /** Kind of the handler. */
  kind: string
  /** Unique within the kind; null for jobs that are all different. */
  key: string | null
  payload: JsonColumn
  /** For whom the work is, such as the id of a workspace; empty for kinds that do not share their places fairly. */
  scope: string
  state: 'waiting' | 'running' | 'dead'
  /** 0 is first. */
  priority: number
  /** Earliest time of the next claim: while it waits, its due time; while it runs, the end of the lease. */
  due_at: TimeColumn | null
  /** While it runs: when it is to run once more, because it was enqueued again. */
  follow_up_at: TimeColumn | null
  /** Attempts that ended by themselves, and the running one: those that were lost do not count. */
  attempts: number
  max_attempts: number
  /** Time limit of one attempt. */
  deadline_milliseconds: number
  /** Counts every claim and never falls: distinguishes the worker that holds the job from one that held it. */
  claims: number
  /** Attempts lost with their worker since one last ended by itself. */
  interruptions: number
  /** The runner that claimed it last, for people to read. */
  owner: string | null
  last_error: string | null
  /** Trace of the call that enqueued it, as W3C Trace Context writes it; null without one. */
  traceparent: string | null
  created_at: TimeColumn
  updated_at: TimeColumn
}

/** The last run of each kind of recurring job. */
interface JobRunsTable {
  kind: string
  ended_at: TimeColumn
  /** Error of the run; null if it succeeded. */
  error: string | null
}

declare module '../db/schema.js' {
  interface Schema {
    jobs: JobsTable
    job_runs: JobRunsTable
  }
}

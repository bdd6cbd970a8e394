import type { JsonColumn, TimeColumn } from '../db/columns.js'

/** Work that is yet to be done, being done, or given up. What is done has no row any more. */
export interface JobsTable {
  id: string
  /** Which handler does it. */
  kind: string
  /** Unique within the kind; null for jobs that are all different. */
  key: string | null
  payload: JsonColumn
  state: 'waiting' | 'running' | 'dead'
  /** 0 is first. */
  priority: number
  /** When a worker may take it: while it waits, its time; while it runs, the end of the lease. */
  due_at: TimeColumn | null
  /** While it runs: when it is to run once more, because it was enqueued again. */
  follow_up_at: TimeColumn | null
  /** Attempts that ended by themselves, and the running one: those that were lost do not count. */
  attempts: number
  max_attempts: number
  /** How long one attempt may take. */
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
  /** Why it failed; null if it did not. */
  error: string | null
}

declare module '../db/schema.js' {
  interface Schema {
    jobs: JobsTable
    job_runs: JobRunsTable
  }
}

import type { Tx } from '../db/schema.js'
import { insertJob, type JobRow, lockJobOfKey, patchJob } from './store.js'

/** A job to enqueue. */
export interface JobDraft {
  id: string
  kind: string
  /** Identifies the work among the jobs of its kind; null for a job that renews no other. */
  key: string | null
  /** JSON text. */
  payload: string
  /** As in `NewJob`; empty without one. */
  scope: string
  /** 0 for the most urgent. */
  priority: number
  /** ISO 8601. */
  dueAt: string
  maxAttempts: number
  /** Time limit of one attempt. */
  deadlineMilliseconds: number
  /** Trace of its caller. */
  traceparent: string | null
  /** ISO 8601. */
  now: string
}

/** Stores a job, or renews the one that stands under its key. Returns the id of the row. */
export async function storeJob(tx: Tx, draft: JobDraft): Promise<string> {
  const row = toRow(draft)
  for (;;) {
    const id = await insertJob(tx, row)
    if (id !== undefined) return id
    const standing = await lockJobOfKey(tx, draft.kind, draft.key)
    if (standing) {
      await patchJob(tx, standing.id, renewal(standing, row, draft.dueAt))
      return standing.id
    }
    // The job with this key ended between the two statements, so the key is free now.
  }
}

/** The changes to a job that is enqueued again. */
function renewal(standing: JobRow, next: JobRow, dueAt: string): Partial<JobRow> {
  const { payload, scope, priority, max_attempts, deadline_milliseconds, traceparent, updated_at } =
    next
  const renewed = { payload, scope, max_attempts, deadline_milliseconds, traceparent, updated_at }
  switch (standing.state) {
    case 'waiting': {
      // A job that lost its workers repeatedly stays deferred when the same work is enqueued again,
      // which every start of the server may do.
      const isSuspect = standing.interruptions > 0 && standing.payload === payload
      return {
        ...renewed,
        priority: Math.min(standing.priority, priority),
        due_at: isSuspect ? standing.due_at : earlier(standing.due_at, dueAt),
        interruptions: isSuspect ? standing.interruptions : 0,
        attempts: 0,
        last_error: null,
      }
    }
    case 'running':
      // The attempt goes on with what it was given; the rest is for the run that follows.
      return {
        ...renewed,
        ...(standing.payload !== payload && { interruptions: 0 }),
        priority,
        follow_up_at: earlier(standing.follow_up_at, dueAt),
      }
    case 'dead':
      return { ...next, id: standing.id, claims: standing.claims }
    default:
      return standing.state satisfies never
  }
}

/** The earlier of two ISO 8601 times. */
function earlier(time: string | null, other: string): string {
  return time !== null && time < other ? time : other
}

function toRow(draft: JobDraft): JobRow {
  return {
    id: draft.id,
    kind: draft.kind,
    key: draft.key,
    payload: draft.payload,
    scope: draft.scope,
    state: 'waiting',
    priority: draft.priority,
    due_at: draft.dueAt,
    follow_up_at: null,
    attempts: 0,
    max_attempts: draft.maxAttempts,
    deadline_milliseconds: draft.deadlineMilliseconds,
    claims: 0,
    interruptions: 0,
    owner: null,
    last_error: null,
    traceparent: draft.traceparent,
    created_at: draft.now,
    updated_at: draft.now,
  }
}

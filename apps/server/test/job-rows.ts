import type { JobRow } from '../src/platform/jobs/store.js'

let made = 0

/** A job as it is stored; a kind that no slice has is left alone by the server. */
export function jobRow(row: Partial<JobRow>): JobRow {
  made += 1
  // Not as long ago as dead jobs are kept.
  const at = new Date(Date.now() - 1_000_000 + made * 1000).toISOString()
  return {
    id: `job_${String(made).padStart(8, '0')}`,
    kind: 'test.later',
    key: null,
    payload: '{"secret":"never shown"}',
    scope: '',
    state: 'dead',
    priority: 1,
    due_at: row.state === 'waiting' ? '2999-01-01T00:00:00.000Z' : null,
    follow_up_at: null,
    attempts: 5,
    max_attempts: 5,
    deadline_milliseconds: 1000,
    claims: 5,
    interruptions: 0,
    owner: 'a worker',
    last_error: 'It failed',
    traceparent: null,
    created_at: at,
    updated_at: at,
    ...row,
  }
}

import { type Backoff, backoffPause } from '../backoff.js'
import type { Tx } from '../db/schema.js'
import { LeaseLostError } from '../leases/leases.js'
import { errorText, PermanentJobError, UnreadableJobError } from './errors.js'
import type { Job, JobHandler } from './handler.js'
import {
  type ClaimRef,
  deleteJob,
  type JobRow,
  lockClaimed,
  lowestPriority,
  noteRun,
  patchJob,
} from './store.js'

/** After failed attempts: half a second to one at first, up to ten minutes. */
const retries: Backoff = { firstMs: 1000, maxMs: 600_000 }

/** After interruptions: up to a minute at first, up to a day. */
const deferrals: Backoff = { firstMs: 60_000, maxMs: 24 * 60 * 60 * 1000 }

/** While something is away that jobs need. */
const absence: Backoff = { firstMs: 30_000, maxMs: 30_000 }

/** The state of a job after a failed attempt. */
export type Failure = 'retried' | 'followed up' | 'dead'

/** One claimed job on its way to its end. */
export interface Claimed {
  readonly claim: ClaimRef
  readonly job: Job
  readonly handler: JobHandler
}

/** Milliseconds to wait after a failed attempt, counted from 1. `random` returns a number from 0 up to 1. */
export function retryDelay(attempt: number, random: () => number): number {
  return backoffPause(retries, attempt, random())
}

/** Milliseconds to wait while something is away that the job needs: 15 to 30 seconds. */
export function absencePause(random: () => number): number {
  return backoffPause(absence, 1, random())
}

/**
 * Milliseconds by which a job is deferred that lost its worker this many times in a row; the first time
 * not at all. A job that ends its worker each time does so less and less often, and the random half
 * separates it from jobs that only ran at the same time.
 */
export function interruptionPause(interruptions: number, random: () => number): number {
  return interruptions < 2 ? 0 : backoffPause(deferrals, interruptions - 1, random())
}

/** The job is done: its row goes, or runs once more if it was enqueued again meanwhile. */
export async function storeSuccess(
  tx: Tx,
  { claim, job, handler }: Claimed,
  result: unknown,
  now: string,
): Promise<void> {
  const row = await requireClaimed(tx, claim)
  if (row.follow_up_at === null) await deleteJob(tx, row.id)
  else await patchJob(tx, row.id, { ...startOver(row.follow_up_at, now), ...cleared })
  if (handler.everyMs !== undefined) await noteRun(tx, row.kind, now, null)
  await handler.onDone?.(tx, job, result)
}

/**
 * The attempt failed. A run that was enqueued meanwhile stands in for the retry.
 * @param failure with `isAway` if the attempt does not count, and `comesLast` if the next one yields to other jobs
 */
export async function storeFailure(
  tx: Tx,
  { claim, job, handler }: Claimed,
  failure: { error: Error; retryAt: string; isAway: boolean; comesLast: boolean },
  now: string,
): Promise<Failure> {
  const { error, retryAt, isAway, comesLast } = failure
  const row = await requireClaimed(tx, claim)
  // The worker reported the failure, so it was not interrupted.
  const outcome = { last_error: errorText(error), interruptions: 0 }
  if (handler.everyMs !== undefined) await noteRun(tx, row.kind, now, outcome.last_error)
  if (row.follow_up_at !== null) {
    await patchJob(tx, row.id, { ...startOver(row.follow_up_at, now), ...outcome })
    return 'followed up'
  }
  const isLast = !isAway && row.attempts >= row.max_attempts
  if (error instanceof PermanentJobError || isLast) {
    await patchJob(tx, row.id, {
      state: 'dead',
      due_at: null,
      attempts: job.attempt,
      ...outcome,
      updated_at: now,
    })
    if (!(error instanceof UnreadableJobError)) await handler.onDead?.(tx, job, error)
    return 'dead'
  }
  const attempts = isAway ? row.attempts - 1 : row.attempts
  await patchJob(tx, row.id, {
    state: 'waiting',
    due_at: retryAt,
    attempts,
    ...(comesLast && { priority: lowestPriority }),
    ...outcome,
    updated_at: now,
  })
  return 'retried'
}

/** Gives the job back as if it had not been claimed: the attempt was not its fault. */
export async function storeRelease(tx: Tx, claim: ClaimRef, now: string): Promise<void> {
  const row = await requireClaimed(tx, claim)
  const release = row.follow_up_at === null ? { attempts: row.attempts - 1 } : {}
  await patchJob(tx, row.id, {
    ...startOver(row.follow_up_at ?? now, now),
    last_error: null,
    ...release,
  })
}

/** The columns that a successful attempt resets. */
const cleared = { last_error: null, interruptions: 0 }

function startOver(dueAt: string, now: string): Partial<JobRow> {
  return { state: 'waiting', attempts: 0, due_at: dueAt, follow_up_at: null, updated_at: now }
}

async function requireClaimed(tx: Tx, claim: ClaimRef): Promise<JobRow> {
  const row = await lockClaimed(tx, claim)
  if (!row) throw new LeaseLostError()
  return row
}

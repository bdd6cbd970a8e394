import { ApiError, type Body, type contract } from '@botstead/contract'
import { fieldError } from '../../../domain/refusals.js'
import { bodyTimeOf } from '../../../domain/times.js'
import type { WorkflowRow } from './store.js'

type Status = WorkflowRow['status']

const day = 24 * 60 * 60 * 1000
/** Default timeout of a workflow in milliseconds. */
const defaultTimeout = day
const maxTimeoutMs = 366 * day

/** Statuses of ended workflows, and of running ones. */
export const statusGroups = {
  finished: ['completed', 'failed', 'timedout', 'cancelled'],
  active: ['pending', 'in_progress', 'listening', 'paused'],
} as const satisfies Record<string, readonly Status[]>

/** Whether a workflow with this status has ended. */
export function isFinished(status: Status): boolean {
  return statusGroups.finished.some((finished) => finished === status)
}

/** The columns that a change of the status sets. An ended workflow keeps its status. */
export function changesOf(
  row: WorkflowRow,
  { status, failureReason }: Body<typeof contract.workflows.update>,
  now: string,
) {
  if (status !== undefined && status !== row.status && isFinished(row.status)) {
    throw new ApiError(
      'RelationConflict',
      `body.status: the workflow is ${row.status} and can no longer become ${status}.`,
      { metadata: { in: 'body', field: 'status' } },
    )
  }
  const ends = status !== undefined && isFinished(status) && row.completed_at === null
  return {
    ...(status !== undefined && { status }),
    ...(failureReason !== undefined && { failure_reason: failureReason }),
    ...(ends && { completed_at: now }),
    updated_at: now,
  }
}

/** Time at which a workflow times out, in milliseconds since the Unix epoch. */
export function timeoutOf(given: string | undefined, now: number): number {
  if (given === undefined) return now + defaultTimeout
  const time = bodyTimeOf('timeoutAt', given)
  if (time > now && time <= now + maxTimeoutMs) return time
  throw fieldError('body.timeoutAt', 'must be within a year from now.')
}

/**
 * Throws unless a request that sets a workflow to `in_progress` names the event that continues it.
 */
export function requireEventId(status: string | undefined, eventId: string | undefined): void {
  if (status !== 'in_progress' || eventId !== undefined) return
  throw fieldError('body.eventId', 'is required with the status in_progress.')
}

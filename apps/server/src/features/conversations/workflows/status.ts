import { ApiError, type Body, type contract } from '@botstead/contract'
import type { WorkflowRow } from './store.js'

type Status = WorkflowRow['status']

/** Statuses of workflows that have ended, and of those that still run. */
export const statusGroups = {
  finished: ['completed', 'failed', 'timedout', 'cancelled'],
  active: ['pending', 'in_progress', 'listening', 'paused'],
} as const satisfies Record<string, readonly Status[]>

export function isFinished(status: Status): boolean {
  return statusGroups.finished.some((finished) => finished === status)
}

/** The columns that a change of the status comes to. One that has ended keeps its status. */
export function changesOf(
  row: WorkflowRow,
  { status, failureReason }: Body<typeof contract.workflows.update>,
  now: string,
) {
  if (status !== undefined && status !== row.status && isFinished(row.status)) {
    throw new ApiError(
      'RelationConflict',
      `body.status: the workflow is ${row.status} and cannot become ${status} any more.`,
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

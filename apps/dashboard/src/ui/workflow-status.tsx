import type { Client } from '@botstead/contract'
import { Status, type StatusKind } from './status.js'

type WorkflowState = Awaited<ReturnType<Client['getWorkflow']>>['workflow']['status']

const kinds: Record<WorkflowState, StatusKind> = {
  pending: 'working',
  in_progress: 'working',
  completed: 'done',
  listening: 'waiting',
  paused: 'waiting',
  failed: 'attention',
  timedout: 'attention',
  cancelled: 'off',
}

/** The statuses of workflows to choose from. */
export const workflowStatuses = Object.keys(kinds).map((value) => ({
  value,
  label: value.replaceAll('_', ' '),
}))

/** The status of a workflow. */
export function WorkflowStatus({ status }: { status: WorkflowState }) {
  return <Status kind={kinds[status]}>{status.replaceAll('_', ' ')}</Status>
}

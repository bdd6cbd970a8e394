import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import type { WorkflowRow } from './store.js'

type WireWorkflow = Output<typeof contract.workflows.get>['workflow']

export function toWorkflow(row: WorkflowRow): WireWorkflow {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    input: decodeJson(row.input),
    output: decodeJson(row.output),
    ...(row.parent_workflow_id !== null && { parentWorkflowId: row.parent_workflow_id }),
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.user_id !== null && { userId: row.user_id }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    timeoutAt: row.timeout_at,
    tags: decodeJson(row.tags),
  }
}

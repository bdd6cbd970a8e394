/** A workflow: work of a bot that takes longer than one event. */
export interface WorkflowsTable {
  id: string
  bot_id: string
  name: string
  status:
    | 'pending'
    | 'in_progress'
    | 'failed'
    | 'completed'
    | 'listening'
    | 'paused'
    | 'timedout'
    | 'cancelled'
  /** JSON object. */
  input: string
  /** JSON object. */
  output: string
  parent_workflow_id: string | null
  conversation_id: string | null
  user_id: string | null
  /** The event with which the bot last continued it. */
  event_id: string | null
  /** JSON map of strings. */
  tags: string
  failure_reason: string | null
  timeout_at: string
  /** Time of its end; null while it runs. */
  completed_at: string | null
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    workflows: WorkflowsTable
  }
}

/** A call of an action of an integration, with its result. */
export interface ActionRunsTable {
  id: string
  bot_id: string
  /** Alias of the installation. */
  alias: string
  /** Name of the integration. */
  integration: string
  /** Name of the action, without the alias. */
  action: string
  /** JSON object. */
  input: string
  /** 0 or 1: `input` holds only the beginning of what was sent, as text. */
  input_truncated: number
  /** JSON object; null if it failed. */
  output: string | null
  /** 0 or 1: as with the input. */
  output_truncated: number
  /** 0 or 1: a cached output was used. */
  cached: number
  /** The error; null if the action succeeded. */
  error: string | null
  duration_ms: number
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    action_runs: ActionRunsTable
  }
}

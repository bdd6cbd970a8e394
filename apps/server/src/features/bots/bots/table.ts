/** One row per bot. `definition` holds what it declares as one JSON object. */
export interface BotsTable {
  id: string
  workspace_id: string
  name: string
  description: string | null
  type: 'studio' | 'adk' | 'desk'
  /** 0 or 1: created by a development tool, hidden from the production list. */
  dev: number
  /** Address of the bot's own server. */
  url: string | null
  /** Its code that runs here, if it has no address. */
  deployment_id: string | null
  authentication: string | null
  blocked: number
  always_alive: number
  /** Seconds. */
  max_execution_time: number | null
  /** JSON map of strings. */
  tags: string
  /** JSON of `BotDefinition`: what the bot declares. */
  definition: string
  /** JSON map from name to the sealed value. */
  secrets: string
  /** Sealed. */
  signing_secret: string
  /** Sealed; the previous secret, which also signs until `previous_secret_until`. */
  previous_signing_secret: string | null
  previous_secret_until: string | null
  created_by: string | null
  deployed_at: string | null
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bots: BotsTable
  }
}

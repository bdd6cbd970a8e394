/**
 * An integration connects bots to another service. `definition` holds what it declares as one JSON
 * object.
 */
export interface IntegrationsTable {
  id: string
  workspace_id: string
  /** Unique with the version among those that are not `dev`. */
  name: string
  /** Semantic version. */
  version: string
  /** 0 or 1: created by a development tool. */
  dev: number
  /** Address of its server. */
  url: string | null
  title: string
  description: string
  /** SVG image in base64; may be empty. */
  icon: string
  /** Markdown in base64; may be empty. */
  readme: string
  visibility: 'public' | 'private' | 'unlisted'
  /** Its code that runs here, if it has no address. */
  deployment_id: string | null
  /** Seconds. */
  max_execution_time: number | null
  /** JSON of `IntegrationDefinition`. */
  definition: string
  /** JSON map from name to the sealed value. */
  secrets: string
  /** Sealed. */
  signing_secret: string
  /** Sealed; the secret before the last rotation. */
  former_secret: string | null
  /** Until when the former secret also signs. */
  former_secret_until: string | null
  /** In how many bots it is installed, counted with the installations. */
  installs: number
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    integrations: IntegrationsTable
  }
}

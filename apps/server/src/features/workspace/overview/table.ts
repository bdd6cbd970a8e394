/** Groups of errors of the overview that somebody resolved. */
interface ResolvedErrorsTable {
  workspace_id: string
  /** Id of the group. */
  fingerprint: string
  bot_id: string
  /** ISO 8601 time of the newest error that was resolved; later ones are shown. */
  last_at: string
  /** The account that resolved it. */
  account_id: string
  resolved_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    resolved_errors: ResolvedErrorsTable
  }
}

export type { ResolvedErrorsTable }

/** What a bot counts, added up by day. */
interface AnalyticsTable {
  bot_id: string
  /** Day in UTC, such as `2026-03-01`. */
  day: string
  name: string
  count: number
}

/** What a bot noticed while it ran. */
interface ObservationsTable {
  bot_id: string
  id: string
  name: string
  /** JSON object: the facts, and the ids of what they are about. */
  data: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    analytics: AnalyticsTable
    observations: ObservationsTable
  }
}

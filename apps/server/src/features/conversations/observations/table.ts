/** Counts of a bot, by day. */
interface AnalyticsTable {
  bot_id: string
  /** Day in UTC, such as `2026-03-01`. */
  day: string
  name: string
  count: number
}

/** Observations that a bot reports while it runs. */
interface ObservationsTable {
  bot_id: string
  id: string
  name: string
  /** JSON object: the data, and the ids of its subjects. */
  data: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    analytics: AnalyticsTable
    observations: ObservationsTable
  }
}

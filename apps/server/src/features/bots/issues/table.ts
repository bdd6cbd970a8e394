/** Problems of the code of bots: one row for each problem, however often it happens. */
export interface BotIssuesTable {
  id: string
  bot_id: string
  /** SHA-256, in hex, of what distinguishes the problem from others of the bot. */
  fingerprint: string
  code: string
  category: 'user_code' | 'limits' | 'configuration' | 'other'
  title: string
  description: string
  /** JSON map of `{ raw, pretty? }`. */
  grouped_data: string
  /** Number of its events, including those that are no longer stored. */
  events_count: number
  created_at: string
  last_seen_at: string
}

/** The newest events of issues. */
export interface BotIssueEventsTable {
  id: string
  bot_id: string
  issue_id: string
  /** JSON map of `{ raw, pretty? }`. */
  data: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_issues: BotIssuesTable
    bot_issue_events: BotIssueEventsTable
  }
}

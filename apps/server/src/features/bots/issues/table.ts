/** Problems of the code of bots: one row for whatever has one reason. */
export interface BotIssuesTable {
  id: string
  bot_id: string
  /** Equal for what is one problem. */
  fingerprint: string
  code: string
  category: 'user_code' | 'limits' | 'configuration' | 'other'
  title: string
  description: string
  /** JSON map of `{ raw, pretty? }`. */
  grouped_data: string
  /** How often it happened, with events that were deleted. */
  events_count: number
  created_at: string
  last_seen_at: string
}

/** The last times that a problem happened. */
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

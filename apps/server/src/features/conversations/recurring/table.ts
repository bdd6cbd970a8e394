/** The recurring events of bots. */
export interface RecurringEventsTable {
  bot_id: string
  name: string
  /** Cron expression of five fields, in UTC. */
  cron: string
  /** Type of the event. */
  type: string
  /** JSON object: payload of the event. */
  payload: string
  /** Time at which it is due next; null for never. */
  next_at: string | null
  /** Deliveries that failed since the last success. */
  failed_attempts: number
  last_failure_reason: string | null
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    recurring_events: RecurringEventsTable
  }
}

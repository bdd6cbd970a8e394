/** What a bot or an integration has to be told: one row per thing and receiver. */
export interface DeliveriesTable {
  id: string
  bot_id: string
  /** Alias of the installation that is told; null when it is the bot. */
  integration: string | null
  /** Operation of the receiver: what is sent and how its body is built. */
  kind: 'event_received' | 'message_created'
  /** Id of the event (`event_received`) or message (`message_created`); the body is built from it. */
  subject_id: string
  /** Names receiver and order: those with the same key are made by position; null for no order. */
  order_key: string | null
  /** 1, 2, 3, ... within the order key, in the order of the commits; 0 without a key. */
  position: number
  status: 'pending' | 'delivered' | 'failed'
  /** Attempts made so far. */
  attempts: number
  /** Earliest time of the next attempt; null when there is none to come. */
  next_attempt_at: string | null
  last_error: string | null
  created_at: string
  updated_at: string
}

export interface DeliveriesSchema {
  deliveries: DeliveriesTable
}

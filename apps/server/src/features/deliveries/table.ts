/** What a bot or an integration has to be told: one row per thing and receiver. */
export interface DeliveriesTable {
  id: string
  bot_id: string
  /** Alias of the installation that is told; empty when it is the bot. */
  integration: string
  /** Operation of the receiver: what is sent and how its body is built. */
  kind: 'event_received' | 'message_created' | 'message_updated' | 'conversation_updated' | 'signal'
  /**
   * Id of the event (`event_received`), the message (`message_created`) or the change (`..._updated`), or
   * the place of a `signal` in the log of its conversation; the body is built from it.
   */
  subject_id: string
  /** Line that the delivery stands in: those of a line are made one after the other; null for none. */
  order_key: string | null
  /** Place in the line, in the order of the commits; 0 without a line. */
  position: number
  /** `canceled` is what had nothing to tell any more. */
  status: 'pending' | 'delivered' | 'failed' | 'canceled'
  /** Attempts begun so far; with the owner it names one claim. */
  attempts: number
  /**
   * Attempts that are none of those after which it is given up: made before it was sent once more by
   * hand, or cut off by the end of the server.
   */
  spent: number
  /** Process that sends it now. */
  owner: string | null
  /**
   * When it may be claimed: at once, after a pause, or when its owner has been silent for too long;
   * null when it is not its turn, its receiver is paused, or it is finished.
   */
  next_attempt_at: string | null
  /** 0 or 1: first of its line, while its receiver is paused. */
  set_aside: number
  last_error: string | null
  created_at: string
  updated_at: string
}

/** Lines in which something waits. A line that has emptied has no row. */
interface DeliveryLinesTable {
  order_key: string
  bot_id: string
  last_position: number
  /** Deliveries that are not finished, the one that is being sent included. */
  waiting: number
}

/** What came of each attempt at a delivery. */
export interface DeliveryAttemptsTable {
  delivery_id: string
  /** From 1. */
  number: number
  bot_id: string
  started_at: string
  duration_ms: number
  /** HTTP status of the answer; null without one. */
  status: number | null
  /** Why it failed; null if it did not. */
  error: string | null
  /** Beginning of the body of the answer. */
  answer: string | null
}

/** Receivers that have failed lately or are paused. One that works has no row. */
export interface DeliveryReceiversTable {
  bot_id: string
  /** Alias of the installation; empty for the bot. */
  integration: string
  /** Attempts that have failed since the last success. */
  failures: number
  failing_since: string | null
  /** Who paused it; null if nobody did. */
  paused: 'failures' | 'operator' | null
  paused_at: string | null
  /** The last failure before the pause. */
  reason: string | null
  /** When the next ping is due that may end the pause. */
  probe_at: string | null
  /** 0 or 1: what was set aside during a pause is being put back. */
  releasing: number
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    deliveries: DeliveriesTable
    delivery_lines: DeliveryLinesTable
    delivery_attempts: DeliveryAttemptsTable
    delivery_receivers: DeliveryReceiversTable
  }
}

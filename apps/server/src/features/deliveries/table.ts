/** A notification of a bot or an integration: one row per subject and receiver. */
export interface DeliveriesTable {
  id: string
  bot_id: string
  /** Alias of the installation that is notified; empty for the bot. */
  integration: string
  /** Operation of the receiver, which determines how the body is built. */
  kind: 'event_received' | 'message_created' | 'message_updated' | 'conversation_updated' | 'signal'
  /**
   * Id of the event (`event_received`), the message (`message_created`) or the change (`..._updated`), or
   * the position of a `signal` in the log of its conversation; the body is built from it.
   */
  subject_id: string
  /**
   * Queue of the delivery: its receiver with the ordering key of the request. Deliveries of a queue
   * are sent one after the other; null without an ordering key.
   */
  order_key: string | null
  /** Position in the queue, in the order of the commits; 0 without one. */
  position: number
  /** `canceled`: the subject was deleted before it was sent. */
  status: 'pending' | 'delivered' | 'failed' | 'canceled'
  /** Attempts begun so far; with the owner it names one claim. */
  attempts: number
  /**
   * Prior attempts, which do not count towards giving it up: made before a replay, or interrupted
   * by the end of a process.
   */
  spent: number
  /** Process that is sending it. */
  owner: string | null
  /**
   * Time from which it may be claimed: at once, after a pause, or when the lease of its owner expires; null
   * while it is parked or not the head of its queue, and when it is finished.
   */
  next_attempt_at: string | null
  /** 0 or 1: parked, because its receiver is paused. */
  set_aside: number
  last_error: string | null
  /**
   * Number of times that it certainly ended the code of its receiver, deployed here. 0: something else may have ended
   * it. Null: it is not suspected. Suspected deliveries are sent alone.
   */
  code_ends: number | null
  /** Trace of the call that led to it, as W3C Trace Context writes it; null without one. */
  traceparent: string | null
  created_at: string
  updated_at: string
}

/** Queues of ordering keys. An empty queue has no row. */
interface DeliveryQueuesTable {
  order_key: string
  bot_id: string
  last_position: number
  /** Unfinished deliveries, including the one in flight. */
  waiting: number
}

/** The result of each attempt at a delivery. */
export interface DeliveryAttemptsTable {
  delivery_id: string
  /** From 1. */
  number: number
  bot_id: string
  /** The workspace of the bot, for the logs of workspaces. */
  workspace_id: string
  started_at: string
  ended_at: string
  duration_ms: number
  /** HTTP status of the response; null without one. */
  status: number | null
  /** The reason of the failure; null if the attempt succeeded. */
  error: string | null
  /** Beginning of the body of the response. */
  answer: string | null
  /** URL that was called, without a password; null in rows of earlier versions. */
  url: string | null
  /** Header with the signature; it proves which body was sent. */
  signature: string | null
  /** JSON object: headers of the response that help to find out why a call failed. */
  response_headers: string | null
}

/** Receivers that have failed lately or are paused. A working one has no row. */
export interface DeliveryReceiversTable {
  bot_id: string
  /** Alias of the installation; empty for the bot. */
  integration: string
  /** Attempts that have failed since the last success. */
  failures: number
  failing_since: string | null
  /** The cause of its pause; null if it is not paused. */
  paused: 'failures' | 'operator' | null
  paused_at: string | null
  /** The last failure before the pause. */
  reason: string | null
  /** Time of the next ping, which may end the pause. */
  probe_at: string | null
  /** 0 or 1: deliveries parked during a pause are being resumed. */
  releasing: number
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    deliveries: DeliveriesTable
    delivery_lines: DeliveryQueuesTable
    delivery_attempts: DeliveryAttemptsTable
    delivery_receivers: DeliveryReceiversTable
  }
}

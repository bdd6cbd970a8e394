import type { AliasedExpression } from 'kysely'

/** The receiver of a delivery: a bot, or an integration installed in it. */
export interface Receiver {
  botId: string
  /** Alias of the installation; empty for the bot. */
  integration: string
}

/** The receiver of the signals of a bot: the webhook of its chat, which has this alias in every bot. */
export const signalReceiver = 'chat'

/** One text that identifies a receiver, for maps and hints. */
export function receiverKey({ botId, integration }: Receiver): string {
  return `${botId}/${integration}`
}

/** The receiver that a key identifies. */
export function receiverOf(key: string): Receiver {
  const slash = key.indexOf('/')
  return { botId: key.slice(0, slash), integration: key.slice(slash + 1) }
}

/** The kind of the body of a delivery. */
export type DeliveryKind =
  | 'event_received'
  | 'message_created'
  | 'message_updated'
  | 'conversation_updated'
  | 'signal'

/** Something that a bot or one of its integrations has to be notified of. */
export interface DeliveryRequest {
  readonly botId: string
  /** Alias of the installation that is notified; left out when it is the bot. */
  readonly integration?: string
  readonly kind: DeliveryKind
  /** Id of the event, message, change or signal; the body is built from it when it is sent. */
  readonly subjectId: string
  /**
   * Deliveries to one receiver with the same key are made in the order of their commits: the id of a
   * conversation, for example. Left out, the delivery waits for no other.
   */
  readonly orderingKey?: string | undefined
}

/** A delivery, by what it is about. */
export interface DeliveryRef {
  readonly botId: string
  readonly kind: DeliveryKind
  readonly subjectId: string
  /** The key in whose order it was made; undefined without one. */
  readonly orderingKey?: string | undefined
}

/** Deliveries that ended in the same way. */
interface DeliveriesEnded {
  readonly deliveries: readonly DeliveryRef[]
  /** The reason why the receivers did not accept them; null if they did, or had nothing to accept. */
  readonly failure: string | null
}

/**
 * Ids of subjects that deliveries are about, to be joined to: code that deletes old subjects keeps
 * these. A table and not a condition, so that either engine goes through it once: after a long outage
 * it is large, and PostgreSQL compares each with each for `not in`.
 */
export type NeededSubjects = AliasedExpression<{ subject_id: string }, 'needed'>

declare module '../platform/domain-events.js' {
  interface DomainEvents {
    /** Records a delivery in the transaction of the change that it is about. */
    'delivery.requested': DeliveryRequest
    /** Deliveries are over, together: no further attempt is made. */
    'delivery.ended': DeliveriesEnded
    /** A delivery that was over is pending again, because it was requested to be sent again. */
    'delivery.reopened': DeliveryRef
  }
}

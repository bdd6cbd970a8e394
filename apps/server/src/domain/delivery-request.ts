/** What a delivery carries, by the kind of its body. */
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

declare module '../platform/domain-events.js' {
  interface DomainEvents {
    /** Records a delivery in the transaction of the change that it is about. */
    'delivery.requested': DeliveryRequest
  }
}

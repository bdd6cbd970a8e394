import type { Tx } from './db/schema.js'

/**
 * Every event of the domain, by name, with what it carries. The slice that raises an event declares it
 * (`declare module`), where its type is.
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled where the events are raised
export interface DomainEvents {}

type DomainEventName = keyof DomainEvents

/** Acts on an event in the transaction that raised it: awaits queries of `tx` only; throwing rolls all back. */
type Subscriber<Name extends DomainEventName> = (
  tx: Tx,
  event: DomainEvents[Name],
) => Promise<unknown>

/** The handlers of a slice for domain events, by name. */
export type Subscriptions = { readonly [Name in DomainEventName]?: Subscriber<Name> }

/**
 * Notifies slices of what happened in others, inside of the transaction in which it happened. What must
 * follow a commit is for {@link afterCommit}.
 */
export interface EventDispatcher {
  /** Runs all subscribers, one after the other, in the order in which they subscribed. */
  raise<Name extends DomainEventName>(
    tx: Tx,
    name: Name,
    event: DomainEvents[Name],
  ): Promise<unknown>
  subscribe(subscriptions: Subscriptions): void
}

/** Makes a dispatcher without subscribers. */
export function createEventDispatcher(): EventDispatcher {
  const subscribers = new Map<DomainEventName, Subscriber<never>[]>()

  async function actInTurn(acting: readonly Subscriber<never>[], tx: Tx, event: unknown) {
    for (const act of acting) await act(tx, event as never)
  }

  return {
    raise(tx, name, event) {
      const acting = subscribers.get(name) ?? []
      const [first] = acting
      // The hot path of messages has one subscriber: its promise is returned and not awaited a second time.
      return first !== undefined && acting.length === 1
        ? first(tx, event as never)
        : actInTurn(acting, tx, event)
    },
    subscribe(subscriptions) {
      for (const [name, act] of Object.entries(subscriptions)) {
        const acting = subscribers.get(name as DomainEventName) ?? []
        subscribers.set(name as DomainEventName, [...acting, act as Subscriber<never>])
      }
    },
  }
}

import type { Route } from '../http/mount.js'
import type { RawRoute } from '../http/raw-routes.js'
import type { RawSocketRoute } from '../http/raw-sockets.js'
import type { ReadinessCheck } from '../http/service-routes.js'
import type { Tx } from '../platform/db/schema.js'
import type { Subscriptions } from '../platform/domain-events.js'
import type { KeepStream } from '../platform/events/trim.js'
import type { JobHandler } from '../platform/jobs/handler.js'
import type { Metric } from '../platform/telemetry/metrics.js'

/**
 * Everything that the program must know of a slice. The value that a slice's `createX` returns is one, with
 * what other slices may call beside it; `app/container.ts` folds the list of them in `app/features.ts`.
 */
export interface Feature {
  /** In logs and errors. */
  readonly name: string
  /** Operations of the contract with their handlers. */
  readonly routes?: readonly Route[]
  /** Addresses outside of the contract. */
  readonly rawRoutes?: readonly RawRoute[]
  /** Addresses outside of the contract at which programs open WebSockets. */
  readonly rawSockets?: readonly RawSocketRoute[]
  /** Work in the background, by the kind of the job. */
  readonly jobs?: Readonly<Record<string, JobHandler>>
  /** Enqueues the jobs that each start begins with, in one transaction with those of the others. */
  schedule?(tx: Tx): Promise<void>
  /** Hourly retention: each removes some rows that are old enough and returns how many, 0 at the end. */
  readonly sweeps?: readonly Sweep[]
  /** Subscribers to domain events of other slices. They run in the transaction of the event. */
  readonly on?: Subscriptions
  /** Actions of the built-in chat that the server itself runs, by name. */
  readonly actions?: Readonly<Record<string, ServerAction>>
  readonly metrics?: readonly Metric[]
  /** Checks that must pass before this process takes requests: `/readyz`. */
  readonly checks?: readonly ReadinessCheck[]
  /**
   * Deletes what it has of a bot that was deleted, in small transactions; repeatable. What belongs to a
   * workspace goes in the transaction that deletes it: `workspace.removed`.
   */
  purge?(botId: string): Promise<void>
  /** Streams of the events log that must keep what is older than events are kept. */
  readonly keepsEvents?: KeepStream
  /** Makes ready what it needs; awaited in every process before its first request. */
  open?(): Promise<void>
  /** Begins what runs by itself, in processes that work in the background; after everything is open. */
  start?(): Promise<void>
  /** Begins what waits until the server listens, in every process; must not throw. */
  ready?(): void
  /** Ends requests that have no end of their own, such as streams, when the server begins to stop. */
  drain?(): void
  /** Ends what runs by itself and what it holds open, within `timeLeft` milliseconds. */
  stop?(timeLeft: number): Promise<void>
}

/** A feature that has these parts in any case. */
export type FeatureWith<Part extends keyof Feature> = Feature & Required<Pick<Feature, Part>>

/** Does an action for a bot and returns its output. Throws `ApiError` for input that is not its own. */
export type ServerAction = (
  botId: string,
  input: Record<string, unknown>,
) => Promise<Record<string, unknown>>

/** Removes some expired rows and returns how many. */
export type Sweep = (tx: Tx) => Promise<number>

import type { Tx } from '../db/schema.js'

/** A job as its handler sees it. */
export interface Job<Payload = unknown> {
  id: string
  kind: string
  /** Undefined if it was enqueued without. */
  key: string | undefined
  payload: Payload
  /** Number of this attempt, from 1. */
  attempt: number
  /** Attempts before the job is given up. */
  maxAttempts: number
}

/** The context in which a handler runs. */
export interface JobContext {
  /**
   * Aborted when the attempt has to end: it took too long, the job is no longer this worker's, or the
   * process stops. From then on the result of the handler does not count.
   */
  readonly signal: AbortSignal
  /**
   * Makes sure that the job is still this worker's, before a step that must not be made twice:
   * rejects if it is not. Leases are prolonged without it.
   */
  heartbeat(): Promise<void>
}

/** Places that jobs of one scope may have at a time. */
export interface ScopeLimits {
  high: number
  others: number
}

/**
 * Processes the jobs of one kind. A runner can attempt a job more than once, also if it was done but its
 * end could not be stored, so a handler must be idempotent.
 *
 * `Payload` is what callers of `enqueue` give this kind; being methods, handlers of all payloads fit
 * into one list.
 */
export interface JobHandler<Payload = unknown, Result = unknown> {
  /** Jobs of the kind that one runner does at a time, from 1. Default 1. */
  readonly concurrency?: number
  /**
   * The limit for each scope: `high` for jobs of high priority. A job of another priority starts only while fewer than
   * `others` jobs of its scope run, of any priority. Without it, jobs of the kind must have no scope.
   */
  readonly perScope?: ScopeLimits
  /**
   * Whether the work frees space: its jobs may use the disk reserve, so that they are claimed and ended
   * on a full disk too. Default false.
   */
  readonly mayUseReserve?: boolean
  /**
   * Milliseconds between two runs, of a job that enqueues itself again under the key `all`: then the end of its last
   * run is kept.
   */
  readonly everyMs?: number
  /**
   * Whether an error says that something is away that all jobs of the kind need, such as a store. The job then waits
   * until it is back, however long that takes: the attempt does not count. Default: no error does.
   */
  isAway?(error: Error): boolean
  /**
   * Whether an error says that something is away that this job alone needs, such as one object of a store that responds.
   * The attempt counts, the job waits as long as for `isAway`, and then comes after all jobs that did not fail so: those
   * must not wait while it occupies a slot again. Default: no error does.
   */
  comesLast?(error: Error): boolean
  /**
   * Does the work. Rejecting means to try again later, with `PermanentJobError` never.
   */
  handler(job: Job<Payload>, context: JobContext): Promise<Result>
  /**
   * Stores the result in the transaction that ends the job: both happen or neither, and only if the
   * job is still this worker's. It awaits nothing but queries of `tx`; throwing fails the attempt.
   */
  onDone?(tx: Tx, job: Job<Payload>, result: Result): Promise<void>
  /** Stores that the job is given up, in the transaction that marks it dead. Must not throw. */
  onDead?(tx: Tx, job: Job<Payload>, error: Error): Promise<void>
}

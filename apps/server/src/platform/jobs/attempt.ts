import { type Clock, isoTime, type Timers } from '../clock.js'
import type { Run } from '../db/schema.js'
import { HolderStoppedError, LeaseLostError } from '../leases/leases.js'
import type { Log } from '../telemetry/log.js'
import { errorType, messagingAttributes, type Tracing } from '../telemetry/tracing.js'
import { JobDeadlineError, OutsideJobError } from './errors.js'
import type { Job, JobHandler } from './handler.js'
import {
  absencePause,
  type Failure,
  retryDelay,
  storeFailure,
  storeRelease,
  storeSuccess,
} from './outcome.js'
import { readPayload } from './payload.js'
import type { ClaimedJob, JobRow } from './store.js'

export interface AttemptDeps {
  run: Run
  clock: Clock
  timers: Timers
  log: Log
  random: () => number
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
  /** Milliseconds a handler has to end after its signal was aborted. */
  graceMilliseconds: number
  /** Prolongs the lease of a claim; false if it is lost. */
  extend(claim: JobRow): Promise<boolean>
}

/** One run of a handler, from the claim to the stored outcome. */
export interface Attempt {
  readonly row: JobRow
  /** Ends the attempt. Without effect once its outcome is being stored. */
  abort(reason: LeaseLostError | HolderStoppedError): void
  /** Whether the lease is still needed: the outcome is not stored yet. */
  isOpen(): boolean
  /** Resolves when the outcome is stored, or cannot be. */
  readonly settled: Promise<void>
  /** Resolves when the handler has returned too, which cannot be forced. */
  readonly ended: Promise<void>
}

/** The outcome of a handler. */
type Handled = { readonly result: unknown } | { readonly error: Error }

/** Starts the handler on a claimed job. */
export function startAttempt(deps: AttemptDeps, row: ClaimedJob, handler: JobHandler): Attempt {
  const { clock, timers, log, random } = deps
  const { mayUseReserve = false } = handler
  const run: Run = (work) => deps.run(work, { mayUseReserve })
  const read = readPayload(row.payload)
  const job = toJob(row, read.payload)
  const claimed = { claim: row, job, handler }
  const about = { job: job.id, kind: job.kind, key: job.key, attempt: job.attempt }
  const controller = new AbortController()
  let interruption: Error | undefined
  let storing = false
  let open = true
  let cancelGrace = () => {}
  let giveUp = () => {}

  function interrupt(reason: Error): void {
    if (storing || interruption) return
    interruption = reason
    cancelGrace = timers.after(deps.graceMilliseconds, () => giveUp())
    controller.abort(reason)
  }

  const cancelDeadline = timers.after(row.deadline_milliseconds, () => {
    const limit = row.deadline_milliseconds
    interrupt(new JobDeadlineError(`The attempt took longer than ${limit} ms`))
  })

  async function heartbeat(): Promise<void> {
    controller.signal.throwIfAborted()
    if (!(await deps.extend(row))) interrupt(new LeaseLostError())
    controller.signal.throwIfAborted()
  }

  async function handle(): Promise<Handled> {
    if (read.fault !== undefined) return { error: read.fault }
    try {
      return { result: await handler.handler(job, { signal: controller.signal, heartbeat }) }
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)) }
    }
  }

  /** As `handle`, in the trace of the call that enqueued the job. */
  async function handleTraced(tracing: Tracing): Promise<Handled> {
    const span = tracing.begin('process jobs', {
      kind: 'consumer',
      parent: row.traceparent,
      attributes: messagingAttributes('process', 'jobs', {
        'messaging.message.id': job.id,
        'botstead.job.kind': job.kind,
        'botstead.job.attempt': job.attempt,
      }),
    })
    const handled = await span.run(handle)
    if ('error' in handled) span.fail(errorType(handled.error))
    span.end()
    return handled
  }

  async function settle(handling: Promise<Handled>): Promise<void> {
    const silence = new Promise<undefined>((resolve) => {
      giveUp = () => resolve(undefined)
    })
    const handled = await Promise.race([handling, silence])
    storing = true
    cancelDeadline()
    cancelGrace()
    if (!handled) log.error(about, 'job handler goes on although its signal was aborted')
    try {
      await store(handled)
    } catch (err) {
      if (err instanceof LeaseLostError) logLoss(err)
      // The lease runs out, and the job is tried again.
      else log.error({ ...about, err }, 'outcome of a job could not be stored')
    }
    open = false
  }

  async function store(handled: Handled | undefined): Promise<void> {
    if (interruption instanceof LeaseLostError) return logLoss(interruption)
    if (interruption instanceof HolderStoppedError) {
      await run((tx) => storeRelease(tx, row, isoTime(clock.now())))
      return log.info(about, 'job given back')
    }
    if (interruption) return storeError(interruption)
    if (!handled) return
    if ('error' in handled) return storeError(handled.error)
    try {
      await run((tx) => storeSuccess(tx, claimed, handled.result, isoTime(clock.now())))
    } catch (error) {
      if (!(error instanceof Error) || error instanceof LeaseLostError) throw error
      await storeError(error)
    }
  }

  async function storeError(error: Error): Promise<void> {
    const now = clock.now()
    const isAway = handler.isAway?.(error) ?? false
    const comesLast = handler.comesLast?.(error) ?? false
    const pause = isAway || comesLast ? absencePause(random) : retryDelay(job.attempt, random)
    const retryAt = isoTime(now + pause)
    const failed = { error, retryAt, isAway, comesLast }
    const failure = await run((tx) => storeFailure(tx, claimed, failed, isoTime(now)))
    logFailure(failure, error, retryAt)
  }

  function logFailure(failure: Failure, err: Error, retryAt: string): void {
    const why = err instanceof OutsideJobError ? { reason: err.message } : { err }
    switch (failure) {
      case 'retried':
        log.warn({ ...about, ...why, retryAt }, 'job failed, will be tried again')
        break
      case 'followed up':
        log.warn({ ...about, ...why }, 'job failed, and was asked for again meanwhile')
        break
      case 'dead':
        log.error({ ...about, ...why }, 'job failed for good')
        break
      default:
        failure satisfies never
    }
  }

  function logLoss(err: Error): void {
    log.warn({ ...about, err }, 'job was lost to another worker')
  }

  if (row.wasRunning) log.warn(about, 'job taken over from a silent worker')
  const { tracing } = deps
  const handling =
    tracing !== undefined && row.traceparent !== null ? handleTraced(tracing) : handle()
  const settled = settle(handling)
  return {
    row,
    abort: interrupt,
    isOpen: () => open,
    settled,
    ended: Promise.all([handling, settled]).then(() => {}),
  }
}

function toJob(row: JobRow, payload: unknown): Job {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key ?? undefined,
    payload,
    attempt: Math.min(row.attempts, row.max_attempts),
    maxAttempts: row.max_attempts,
  }
}

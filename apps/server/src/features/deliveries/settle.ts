import type { Receiver } from '../../domain/deliveries.js'
import { type Backoff, backoffPause } from '../../platform/backoff.js'
import { createBatches } from '../../platform/batches.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/commit-hooks.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import type { Log } from '../../platform/telemetry/log.js'
import { lineOfReceiver } from '../bots/logs/index.js'
import type { CallResult } from '../calls/requests/index.js'
import * as claims from './claim-store.js'
import { type Ended, type EndingDeps, endDeliveries } from './ending.js'
import * as history from './history-store.js'
import type { NextClaim } from './ordering-store.js'
import * as receivers from './receiver-store.js'
import { type DeliveryRow, receiverIn } from './store.js'

/** How often a delivery is tried. */
interface RetryPolicy extends Backoff {
  /** Attempts before a delivery is given up; none is made while the receiver is paused. */
  maximumAttempts: number
}

/** When a failing receiver is paused. */
export interface PausePolicy {
  /** Milliseconds without a success. */
  afterMs: number
  /** Failed attempts, so that rare messages that fail twice do not pause the receiver. */
  afterFailures: number
  /** Milliseconds between the pings that check whether the receiver is back. */
  probeEveryMs: number
}

export interface SettleDeps extends EndingDeps {
  run: Run
  clock: Clock
  log: Log
  random: () => number
  retry: RetryPolicy
  pausing: PausePolicy
}

/** An attempt that has a result. */
interface Attempt {
  row: DeliveryRow
  result: CallResult
  /** Whether the receiver counted as failing before. */
  wasFailing: boolean
  /** Claims the next delivery of the queue, if there is one. */
  nextClaim: NextClaim | undefined
}

export interface Settled {
  /** The next delivery of the same queue, claimed on request. */
  next: DeliveryRow | undefined
  /** Whether the receiver is paused from now on. */
  pausedNow: boolean
}

/** Deliveries that are settled in one transaction. */
const maxBatch = 64
const noAddress = 'The receiver has no address.'

export type Settle = ReturnType<typeof createSettle>

/** Stores the end of a claim, with all consequences, in one transaction. */
export function createSettle(deps: SettleDeps) {
  const { run, clock, log, retry, pausing, writeLogLine } = deps

  /**
   * Delivered ones, which most are, share transactions, with one statement for each kind of change.
   */
  const delivered = createBatches(maxBatch, (attempts: readonly Attempt[]) =>
    run((tx) => settleIn(tx, attempts)),
  )

  /**
   * Stores the result of an attempt.
   * @returns undefined if the claim was lost to another process meanwhile
   */
  async function attempt(made: Attempt): Promise<Settled | undefined> {
    if (made.result.verdict.result === 'delivered' && !made.wasFailing) {
      try {
        return await delivered.add(made)
      } catch {
        // One that cannot be stored does not fail the others of its batch.
      }
    }
    const [settled] = await run((tx) => settleIn(tx, [made]))
    return settled
  }

  /**
   * Stores the results of attempts, at most one per queue; returns the outcomes in the same order.
   */
  async function settleIn(tx: Tx, attempts: readonly Attempt[]): Promise<(Settled | undefined)[]> {
    const now = clock.now()
    const endings = attempts.map((made) => ({ made, row: made.row, outcome: outcomeOf(made, now) }))
    const ended = await claims.endClaims(tx, endings, isoTime(now))
    // Missing ones were claimed by others, whose results count.
    const own = endings.filter(({ row }) => ended.has(row.id))
    await history.insertAttempts(
      tx,
      own.map(({ made, row }) => history.attemptOf(row, made.result)),
    )
    const paused = new Set<DeliveryRow>()
    for (const { made, row } of own) {
      if (await recordReceiver(tx, made, now)) paused.add(row)
    }
    const over = own.filter(({ outcome }) => outcome.status !== 'pending')
    for (const { row, outcome } of over)
      if (outcome.status === 'failed') logGivenUp(tx, row, outcome)
    const next = await endDeliveries(
      deps,
      tx,
      over.map(({ made, row, outcome }) => ({ row, ...endingOf(made, outcome) })),
      isoTime(now),
    )
    return endings.map(({ row }) =>
      // A lost claim does not continue its queue, even if the next delivery is in the same batch.
      ended.has(row.id) ? { next: next.get(row.order_key), pausedNow: paused.has(row) } : undefined,
    )
  }

  function outcomeOf({ row, result: { verdict } }: Attempt, now: number): claims.Outcome {
    switch (verdict.result) {
      case 'delivered':
        return { status: 'delivered', last_error: null, next_attempt_at: null }
      case 'refused':
        return { status: 'failed', last_error: verdict.error, next_attempt_at: null }
      case 'retry': {
        const made = row.attempts - row.spent
        if (made >= retry.maximumAttempts) {
          const last_error = `Given up after ${made === 1 ? '1 attempt' : `${made} attempts`}. ${verdict.error}`
          return { status: 'failed', last_error, next_attempt_at: null }
        }
        const next_attempt_at = isoTime(
          now + pauseAfter(retry, made, verdict.waitMs, deps.random()),
        )
        return { status: 'pending', last_error: verdict.error, next_attempt_at }
      }
      default:
        return verdict satisfies never
    }
  }

  /** Stores the consequences of an attempt for its receiver; returns whether it is paused now. */
  async function recordReceiver(tx: Tx, made: Attempt, now: number): Promise<boolean> {
    const { verdict } = made.result
    const receiver = receiverIn(made.row)
    if (verdict.result === 'retry') return await recordFailure(tx, receiver, verdict.error, now)
    // A refusal is a response: the receiver is up.
    if (made.wasFailing) await receivers.recordSuccess(tx, receiver)
    return false
  }

  /** Counts a failure of the receiver, and pauses it when it has failed for long. */
  async function recordFailure(
    tx: Tx,
    receiver: Receiver,
    error: string,
    now: number,
  ): Promise<boolean> {
    const state = await receivers.recordFailure(tx, receiver, error, isoTime(now))
    if (!state?.failing_since || state.failures < pausing.afterFailures) return false
    if (now - Date.parse(state.failing_since) < pausing.afterMs) return false
    const probeAt = isoTime(now + pausing.probeEveryMs)
    if (!(await receivers.pause(tx, receiver, 'failures', isoTime(now), probeAt))) return false
    const text = `paused until it answers a ping. ${error}`
    await writeLogLine(tx, lineOfReceiver(receiver, 'warn', text))
    afterCommit(tx, () => {
      log.warn(
        { ...receiver, failingSince: state.failing_since, failures: state.failures, error },
        'deliveries are paused until the receiver answers a ping; nothing is lost meanwhile',
      )
    })
    return true
  }

  function logGivenUp(tx: Tx, row: DeliveryRow, { last_error }: claims.Outcome): void {
    const about = { delivery: row.id, botId: row.bot_id, integration: row.integration }
    afterCommit(tx, () => log.warn({ ...about, error: last_error }, 'a delivery was given up'))
  }

  /** Ends a delivery whose subject was deleted. */
  async function cancel(row: DeliveryRow): Promise<void> {
    const last_error = 'What it told of was deleted.'
    await run(async (tx) => {
      const now = isoTime(clock.now())
      const outcome = { status: 'canceled', last_error, next_attempt_at: null } as const
      if (!(await claims.endClaim(tx, row, outcome, now))) return
      const line = { level: 'info', text: last_error } as const
      await endDeliveries(deps, tx, [{ row, failure: null, line }], now)
    })
  }

  /**
   * Releases a delivery that may be sent at once, also by others; does nothing if the claim is
   * lost.
   * @param called whether its call had begun, so that the receiver may have it
   */
  async function release(row: DeliveryRow, { called }: { called: boolean }): Promise<void> {
    const now = isoTime(clock.now())
    const { last_error } = row
    const outcome = { status: 'pending', last_error, next_attempt_at: now } as const
    await run((tx) => claims.endClaim(tx, row, outcome, now, called ? 'interruption' : 'nothing'))
  }

  /**
   * Releases a delivery to a receiver without an address, and pauses the receiver until it has one.
   */
  async function awaitAddress(row: DeliveryRow): Promise<void> {
    const receiver = receiverIn(row)
    await run(async (tx) => {
      const now = clock.now()
      const at = isoTime(now)
      const outcome = { status: 'pending', last_error: noAddress, next_attempt_at: at } as const
      // A missing delivery belonged to a deleted bot, and has no consequences.
      if (!(await claims.endClaim(tx, row, outcome, at, 'nothing'))) return
      const probeAt = isoTime(now + pausing.probeEveryMs)
      if (!(await receivers.pause(tx, receiver, 'failures', at, probeAt, noAddress))) return
      await writeLogLine(tx, lineOfReceiver(receiver, 'warn', 'paused until it has an address.'))
      afterCommit(tx, () => log.info(receiver, 'deliveries wait: the receiver has no address'))
    })
  }

  return { attempt, cancel, release, awaitAddress }
}

/**
 * Milliseconds to wait after a failed attempt: at least what the receiver requested, up to the
 * longest pause.
 */
export function pauseAfter(
  retry: Backoff,
  attempt: number,
  wishMs: number,
  random: number,
): number {
  return Math.max(backoffPause(retry, attempt, random), Math.min(wishMs, retry.longestMs))
}

function endingOf(
  { result: { verdict }, nextClaim }: Attempt,
  { last_error }: claims.Outcome,
): Omit<Ended, 'row'> {
  if (verdict.result === 'delivered') return { failure: null, nextClaim }
  const failure = last_error ?? ''
  return {
    failure,
    line: { level: 'error', text: `given up. ${failure}` },
    // A failing receiver does not get the next delivery at once.
    ...(verdict.result === 'refused' && { nextClaim }),
  }
}

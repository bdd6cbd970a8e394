import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/after-commit.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { LogLine } from '../bots/logs/index.js'
import { lineOfReceiver } from '../bots/logs/index.js'
import type { CallResult } from '../calls/requests/index.js'
import { attemptOf, keepAttempts } from './attempt-store.js'
import { endClaim, type Outcome } from './claim-end-store.js'
import { createDelivered } from './delivered.js'
import { callFirst, claimNext, leaveLines, type NextClaim } from './line-store.js'
import { lineAbout } from './log-lines.js'
import { noteFailure, noteSuccess, pause } from './receiver-store.js'
import { pauseAfter, type RetryPolicy } from './retry.js'
import { type DeliveryRow, refOf } from './store.js'

/** When a receiver that fails is left alone. */
export interface PausePolicy {
  /** Milliseconds without a success. */
  afterMs: number
  /** Failed attempts, so that a rare message that fails twice does not pause anything. */
  afterFailures: number
  /** Milliseconds between the pings that look whether it is back. */
  probeEveryMs: number
}

export interface SettleDeps {
  run: Run
  clock: Clock
  log: Log
  random: () => number
  retry: RetryPolicy
  pausing: PausePolicy
  domainEvents: Pick<EventDispatcher, 'raise'>
  /** Writes a line into the log of a bot, in the transaction of what it tells of. */
  note: (tx: Tx, line: LogLine) => Promise<void>
}

export interface Settled {
  /** The next delivery of the same line, already claimed, if it was wanted. */
  next: DeliveryRow | undefined
  /** Whether the receiver is paused from now on. */
  pausedNow: boolean
}

const noAddress = 'The receiver has no address.'

export type Settle = ReturnType<typeof createSettle>

/** Stores what came of an attempt, and everything that follows from it, in one transaction. */
export function createSettle(deps: SettleDeps) {
  const { run, clock, log, retry, pausing, note } = deps

  function outcomeOf(row: DeliveryRow, { verdict }: CallResult, now: number): Outcome {
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
        const wait = pauseAfter(retry, made, verdict.waitMs, deps.random())
        const next_attempt_at = isoTime(now + wait)
        return { status: 'pending', last_error: verdict.error, next_attempt_at }
      }
      default:
        return verdict satisfies never
    }
  }

  /** Counts a failure of the receiver, and pauses it when it has failed for long. */
  async function failed(tx: Tx, row: DeliveryRow, error: string, now: number): Promise<boolean> {
    const receiver = { botId: row.bot_id, integration: row.integration }
    const state = await noteFailure(tx, receiver, error, isoTime(now))
    if (!state?.failing_since || state.failures < pausing.afterFailures) return false
    if (now - Date.parse(state.failing_since) < pausing.afterMs) return false
    const probeAt = isoTime(now + pausing.probeEveryMs)
    if (!(await pause(tx, receiver, 'failures', isoTime(now), probeAt))) return false
    await note(tx, lineOfReceiver(receiver, 'warn', `paused until it answers a ping. ${error}`))
    afterCommit(tx, () => {
      log.warn(
        { ...receiver, failingSince: state.failing_since, failures: state.failures, error },
        'deliveries are paused until the receiver answers a ping; nothing is lost meanwhile',
      )
    })
    return true
  }

  async function finish(
    tx: Tx,
    row: DeliveryRow,
    { status, last_error }: Outcome,
    now: number,
    nextClaim: NextClaim | undefined,
  ): Promise<DeliveryRow | undefined> {
    if (status !== 'delivered') {
      const said = status === 'failed' ? `given up. ${last_error ?? ''}` : `${last_error ?? ''}`
      await note(tx, await lineAbout(tx, row, status === 'failed' ? 'error' : 'info', said))
    }
    if (status === 'failed') {
      afterCommit(tx, () => {
        log.warn(
          { delivery: row.id, botId: row.bot_id, integration: row.integration, error: last_error },
          'a delivery was given up',
        )
      })
    }
    await deps.domainEvents.raise(tx, 'delivery.ended', {
      deliveries: [refOf(row)],
      failure: status === 'failed' ? (last_error ?? '') : null,
    })
    if (row.order_key === null) return undefined
    const waiting = await leaveLines(tx, [row.order_key])
    if (nextClaim !== undefined) return (await claimNext(tx, waiting, nextClaim))[0]
    await callFirst(tx, waiting, isoTime(now))
    return undefined
  }

  const delivered = createDelivered(deps)

  return {
    /**
     * Stores that a receiver took a delivery, together with others of the same moment.
     * @param nextClaim claims the next delivery of the line, if there is one
     * @returns the next delivery, already claimed
     */
    async delivered(
      row: DeliveryRow,
      result: CallResult,
      nextClaim: NextClaim | undefined,
    ): Promise<Settled | undefined> {
      try {
        return { next: await delivered.add({ row, result, nextClaim }), pausedNow: false }
      } catch {
        // One that cannot be stored does not take the others along.
        return await this.attempt(row, result, false, nextClaim)
      }
    },

    /**
     * Stores the result of an attempt.
     * @param wasFailing whether the receiver counted as failing before
     * @param nextClaim claims the next delivery of the line, if there is one
     * @returns undefined if the claim was lost to another process meanwhile
     */
    async attempt(
      row: DeliveryRow,
      result: CallResult,
      wasFailing: boolean,
      nextClaim: NextClaim | undefined,
    ): Promise<Settled | undefined> {
      return await run(async (tx) => {
        const now = clock.now()
        const outcome = outcomeOf(row, result, now)
        if (!(await endClaim(tx, row, outcome, isoTime(now)))) return undefined
        const { verdict } = result
        await keepAttempts(tx, [attemptOf(row, result)])
        if (verdict.result === 'retry') {
          const pausedNow = await failed(tx, row, verdict.error, now)
          if (outcome.status === 'pending') return { next: undefined, pausedNow }
          return { next: await finish(tx, row, outcome, now, undefined), pausedNow }
        }
        // Refusing is an answer too: the receiver is there.
        if (wasFailing) {
          await noteSuccess(tx, { botId: row.bot_id, integration: row.integration })
        }
        return { next: await finish(tx, row, outcome, now, nextClaim), pausedNow: false }
      })
    },

    /** Ends a delivery that has nothing to tell any more. */
    async cancel(row: DeliveryRow): Promise<void> {
      await run(async (tx) => {
        const now = clock.now()
        const outcome: Outcome = {
          status: 'canceled',
          last_error: 'What it told of was deleted.',
          next_attempt_at: null,
        }
        if (await endClaim(tx, row, outcome, isoTime(now))) {
          await finish(tx, row, outcome, now, undefined)
        }
      })
    },

    /**
     * Gives back a delivery that may be sent at once, also by others; does nothing if the claim is lost.
     * @param called whether its call had begun, so that the receiver may have it
     */
    async release(row: DeliveryRow, { called }: { called: boolean }): Promise<void> {
      const now = isoTime(clock.now())
      const outcome: Outcome = {
        ...{ status: 'pending', last_error: row.last_error, next_attempt_at: now },
      }
      await run((tx) => endClaim(tx, row, outcome, now, called ? 'interruption' : 'nothing'))
    },

    /** Leaves a receiver without an address alone until it has one. */
    async park(row: DeliveryRow): Promise<void> {
      await run(async (tx) => {
        const now = clock.now()
        const at = isoTime(now)
        const receiver = { botId: row.bot_id, integration: row.integration }
        const outcome: Outcome = {
          ...{ status: 'pending', last_error: noAddress, next_attempt_at: at },
        }
        // A delivery that is gone belonged to a bot that is gone, and leaves nothing behind.
        if (!(await endClaim(tx, row, outcome, at, 'nothing'))) return
        const probeAt = isoTime(now + pausing.probeEveryMs)
        if (!(await pause(tx, receiver, 'failures', at, probeAt, noAddress))) return
        await note(tx, lineOfReceiver(receiver, 'warn', `paused until it has an address.`))
        afterCommit(tx, () => log.info(receiver, 'deliveries wait: the receiver has no address'))
      })
    },
  }
}

import type { DeliveryRef, Receiver } from '../../domain/deliveries.js'
import { type Backoff, backoffPause } from '../../platform/backoff.js'
import { createBatches } from '../../platform/batches.js'
import { bound } from '../../platform/bound.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { IssueReport } from '../bots/issues/index.js'
import { type LogLine, lineOfReceiver } from '../bots/logs/index.js'
import type { CallResult } from '../calls/requests/index.js'
import * as attempts from './attempt-store.js'
import * as claims from './claim-store.js'
import { announceDelivery } from './outbox.js'
import { advanceQueues, type NextClaim, orderingKeyOf, refOf } from './queue-store.js'
import * as receivers from './receiver-store.js'
import { type DeliveryRow, receiverIn } from './store.js'

/** Number and times of the attempts at a delivery. */
interface RetryPolicy extends Backoff {
  /** Attempts before a delivery is given up; none is made while the receiver is paused. */
  maxAttempts: number
}

/** The conditions under which a failing receiver is paused. */
export interface PausePolicy {
  /** Milliseconds without a success. */
  afterMs: number
  /** Failed attempts, so that rare messages that fail twice do not pause the receiver. */
  afterFailures: number
  /** Milliseconds between the pings that check whether the receiver is back. */
  probeEveryMs: number
}

export interface EndingDeps {
  domainEvents: Pick<EventDispatcher, 'raise'>
  /** Writes a line into the log of a bot, in the transaction that it is about. */
  writeLogLine: (tx: Tx, line: LogLine) => Promise<void>
}

export interface SettleDeps extends EndingDeps {
  run: Run
  bus: EventBus
  clock: Clock
  log: Log
  /** Reports a problem of a bot. */
  reportIssue: (botId: string, issue: IssueReport) => void
  /** The workspace of a bot; undefined if there is no such bot. */
  workspaceIn: (tx: Tx, botId: string) => Promise<string | undefined>
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

/** The result of the end of a claim for the caller. */
export interface Settled {
  /** The next delivery of the same queue, claimed on request. */
  next: DeliveryRow | undefined
  /** Whether the receiver is paused from now on. */
  pausedNow: boolean
}

/** Deliveries that are settled in one transaction. */
const maxBatch = 128
const noAddress = 'The receiver has no address.'
/** Ends of the code after which a delivery is given up that certainly caused them. */
export const maxCodeEnds = 3

/** Stores the end of a claim, with all consequences, in one transaction. */
export function createSettle(deps: SettleDeps) {
  const { run } = deps

  /**
   * Most attempts are delivered: these share transactions, with one statement for each kind of change.
   */
  const delivered = createBatches(maxBatch, (made: readonly Attempt[]) =>
    run((tx) => settleAttempts(deps, tx, made)),
  )

  /**
   * Stores the result of an attempt.
   * @returns undefined if the claim was lost to another process meanwhile
   */
  async function attempt(made: Attempt): Promise<Settled | undefined> {
    if (made.result.verdict.result === 'delivered' && !made.wasFailing) return delivered.add(made)
    const [settled] = await run((tx) => settleAttempts(deps, tx, [made]))
    return settled
  }

  return {
    ...bound(deps, { cancel: cancelDelivery, release: releaseDelivery, awaitAddress }),
    attempt,
  }
}

/**
 * Stores the results of attempts, at most one per queue; returns the outcomes in the same order.
 */
async function settleAttempts(
  deps: SettleDeps,
  tx: Tx,
  made: readonly Attempt[],
): Promise<(Settled | undefined)[]> {
  const now = deps.clock.now()
  const endings = made.map((each) => ({ ...each, outcome: outcomeOf(deps, each, now) }))
  const owned = await claims.endClaims(tx, endings, isoTime(now))
  // The others were claimed by other processes, whose results count.
  const own = endings.filter(({ row }) => owned.has(row.id))
  await attempts.insertAttempts(tx, own, deps.workspaceIn)
  const paused = new Set<DeliveryRow>()
  const ended: Ended[] = []
  for (const { row, result, wasFailing, nextClaim, outcome } of own) {
    const { verdict } = result
    if (verdict.result === 'retry') {
      if (await recordFailure(deps, tx, receiverIn(row), verdict.error, now)) paused.add(row)
    } else if (wasFailing) {
      // A refusal is a response: the receiver is up.
      await receivers.recordSuccess(tx, receiverIn(row))
    }
    if (outcome.status === 'delivered') ended.push({ row, failure: null, nextClaim })
    if (outcome.status === 'failed') {
      const failure = outcome.last_error ?? ''
      const hasEndedCode = result.endOfCode !== undefined && outcome.code_ends === maxCodeEnds
      ended.push({
        row,
        failure,
        line: {
          level: 'error',
          text: `given up${hasEndedCode ? ` (${row.id})` : ''}. ${failure}`,
        },
        // A failing receiver does not get the next delivery at once.
        nextClaim: verdict.result === 'refused' ? nextClaim : undefined,
      })
      const { id: delivery, bot_id: botId, integration } = row
      const about = { delivery, botId, integration, error: failure }
      afterCommit(tx, () => {
        deps.log.warn(about, 'a delivery was given up')
        if (hasEndedCode) deps.reportIssue(botId, issueOfEnds(row, failure))
      })
    }
  }
  const next = await endDeliveries(deps, tx, ended, isoTime(now))
  return made.map(({ row }) =>
    // A lost claim does not continue its queue, even if the next delivery is in the same batch.
    owned.has(row.id) ? { next: next.get(row.order_key), pausedNow: paused.has(row) } : undefined,
  )
}

function outcomeOf(
  deps: SettleDeps,
  { row, result: { verdict, endOfCode } }: Attempt,
  now: number,
): claims.Outcome {
  switch (verdict.result) {
    case 'delivered':
      return { status: 'delivered', last_error: null, next_attempt_at: null }
    case 'refused':
      return { status: 'failed', last_error: verdict.error, next_attempt_at: null }
    case 'retry': {
      const made = row.attempts - row.spent
      const code_ends = codeEndsOf(row, endOfCode)
      if (endOfCode !== undefined && code_ends === maxCodeEnds) {
        const last_error = `Given up, because it ended the code ${maxCodeEnds} times. ${verdict.error}`
        return { status: 'failed', last_error, next_attempt_at: null, code_ends }
      }
      if (made >= deps.retry.maxAttempts) {
        const last_error = `Given up after ${made === 1 ? '1 attempt' : `${made} attempts`}. ${verdict.error}`
        return { status: 'failed', last_error, next_attempt_at: null, code_ends }
      }
      const next_attempt_at = isoTime(
        now + pauseAfter(deps.retry, made, verdict.waitMs, deps.random()),
      )
      return { status: 'pending', last_error: verdict.error, next_attempt_at, code_ends }
    }
    default:
      return verdict satisfies never
  }
}

/**
 * Counts a failure of a receiver, and pauses it when it has failed for long; returns whether it is
 * paused now.
 */
async function recordFailure(
  { pausing, writeLogLine, log }: SettleDeps,
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

/** Ends a delivery whose subject was deleted. */
async function cancelDelivery(deps: SettleDeps, row: DeliveryRow): Promise<void> {
  const last_error = 'The subject of this delivery was deleted.'
  await deps.run(async (tx) => {
    const now = isoTime(deps.clock.now())
    const outcome = { status: 'canceled', last_error, next_attempt_at: null } as const
    if (!(await claims.endClaim(tx, row, outcome, now))) return
    const line = { level: 'info', text: last_error } as const
    await endDeliveries(deps, tx, [{ row, failure: null, line }], now)
  })
}

/**
 * Releases a delivery that may be sent at once, or after some milliseconds, also by others; does nothing if the
 * claim is lost.
 * @param called whether its call had begun, so that the receiver may have it
 */
async function releaseDelivery(
  { clock, run, bus }: SettleDeps,
  row: DeliveryRow,
  { called, afterMs = 0 }: { called: boolean; afterMs?: number },
): Promise<void> {
  const now = clock.now()
  const { last_error } = row
  const next_attempt_at = isoTime(now + afterMs)
  const outcome = { status: 'pending', last_error, next_attempt_at } as const
  await run(async (tx) => {
    await claims.endClaim(tx, row, outcome, isoTime(now), called ? 'interruption' : 'nothing')
    afterCommit(tx, () => announceDelivery(bus, row))
  })
}

/**
 * Releases a delivery to a receiver without an address, and pauses the receiver until it has one.
 */
async function awaitAddress(
  { run, clock, pausing, writeLogLine, log }: SettleDeps,
  row: DeliveryRow,
): Promise<void> {
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

/** The number of times that a delivery certainly ended the code; undefined: as before. */
function codeEndsOf(
  { code_ends }: DeliveryRow,
  endOfCode: CallResult['endOfCode'],
): number | undefined {
  if (endOfCode === undefined) return undefined
  return (code_ends ?? 0) + Number(endOfCode === 'certain')
}

/** The issue of a delivery that was given up because it ended the code again and again. */
function issueOfEnds(row: DeliveryRow, failure: string): IssueReport {
  const receiver = row.integration === '' ? 'the bot' : `the integration ${row.integration}`
  const conversation = orderingKeyOf(row)
  return {
    code: 'delivery_ended_code',
    category: 'limits',
    title: `A delivery ended the code of ${receiver} again and again`,
    description: `${failure} Other deliveries continue. When the code is corrected, replay this one.`,
    data: {
      delivery: { raw: row.id },
      integration: { raw: row.integration },
      ...(conversation !== undefined && { orderingKey: { raw: conversation } }),
    },
    groupBy: ['integration'],
  }
}

/**
 * Milliseconds to wait after a failed attempt: at least those that the receiver requested, up to the
 * longest pause.
 */
export function pauseAfter(
  retry: Backoff,
  attempt: number,
  wishMs: number,
  random: number,
): number {
  return Math.max(backoffPause(retry, attempt, random), Math.min(wishMs, retry.maxMs))
}

/** A delivery that just ended. */
interface Ended {
  row: DeliveryRow
  /** The reason for which the receiver did not accept it; null if it did, or if the delivery was cancelled. */
  failure: string | null
  /** Line for the log of the bot; attempts are in the log anyway. */
  line?: Pick<LogLine, 'level'> & { text: string }
  /** Claims the next delivery of the queue, if there is one. */
  nextClaim?: NextClaim | undefined
}

/**
 * Handles the end of deliveries in the transaction that ends them: writes to the logs of bots,
 * raises events for other slices, and makes the next deliveries the heads of their queues.
 * @returns the next deliveries that were claimed, by their queues
 */
export async function endDeliveries(
  { domainEvents, writeLogLine }: EndingDeps,
  tx: Tx,
  ended: readonly Ended[],
  now: string,
): Promise<Map<string | null, DeliveryRow>> {
  const queues = new Map<string, NextClaim | undefined>()
  const deliveriesBy = new Map<string | null, DeliveryRef[]>()
  for (const { row, failure, line, nextClaim } of ended) {
    if (line !== undefined) await writeLogLine(tx, await logLineAbout(tx, row, line))
    deliveriesBy.set(failure, [...(deliveriesBy.get(failure) ?? []), refOf(row)])
    if (row.order_key !== null) queues.set(row.order_key, nextClaim)
  }
  for (const [failure, deliveries] of deliveriesBy) {
    await domainEvents.raise(tx, 'delivery.ended', { deliveries, failure })
  }
  return await advanceQueues(tx, queues, now)
}

/** A line of the log of a bot about one delivery. */
async function logLineAbout(
  tx: Tx,
  delivery: DeliveryRow,
  { level, text }: NonNullable<Ended['line']>,
): Promise<LogLine> {
  const { bot_id: botId, integration, kind } = delivery
  const about = await attempts.findSubject(tx, botId, delivery.subject_id)
  const name = `${about?.type ?? kind}${integration === '' ? '' : ` to ${integration}`}`
  return {
    botId,
    level,
    message: `${name}: ${text}`,
    userId: about?.user_id ?? undefined,
    workflowId: about?.workflow_id ?? undefined,
    conversationId:
      kind === 'signal' ? orderingKeyOf(delivery) : (about?.conversation_id ?? undefined),
  }
}

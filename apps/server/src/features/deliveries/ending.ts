import type { Tx } from '../../platform/db/schema.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import type { LogLine } from '../bots/logs/index.js'
import { findSubject } from './log-store.js'
import {
  claimHeads,
  leaveQueues,
  type NextClaim,
  orderingKeyOf,
  releaseHeads,
} from './ordering-store.js'
import { type DeliveryRow, refOf } from './store.js'

export interface EndingDeps {
  domainEvents: Pick<EventDispatcher, 'raise'>
  /** Writes a line into the log of a bot, in the transaction that it is about. */
  writeLogLine: (tx: Tx, line: LogLine) => Promise<void>
}

/** A delivery that just ended. */
export interface Ended {
  row: DeliveryRow
  /** Why the receiver did not accept it; null if it did, or if the delivery was cancelled. */
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
  if (ended.length === 0) return new Map()
  for (const { row, line } of ended) {
    if (line !== undefined) await writeLogLine(tx, await logLineAbout(tx, row, line))
  }
  for (const failure of new Set(ended.map((each) => each.failure))) {
    const alike = ended.filter((each) => each.failure === failure)
    const deliveries = alike.map(({ row }) => refOf(row))
    await domainEvents.raise(tx, 'delivery.ended', { deliveries, failure })
  }
  const nextClaims = new Map(ended.map(({ row, nextClaim }) => [row.order_key, nextClaim]))
  const queues = [...nextClaims.keys()].filter((queue) => queue !== null)
  const waiting = await leaveQueues(tx, queues)
  await releaseHeads(
    tx,
    waiting.filter((queue) => nextClaims.get(queue) === undefined),
    now,
  )
  const nextClaim = ended.find((each) => each.nextClaim !== undefined)?.nextClaim
  if (nextClaim === undefined) return new Map()
  const next = await claimHeads(
    tx,
    waiting.filter((queue) => nextClaims.get(queue) !== undefined),
    nextClaim,
  )
  return new Map(next.map((row) => [row.order_key, row]))
}

/** A line of the log of a bot about one delivery. */
async function logLineAbout(
  tx: Tx,
  delivery: DeliveryRow,
  { level, text }: NonNullable<Ended['line']>,
): Promise<LogLine> {
  const { bot_id: botId, integration, kind } = delivery
  const about = await findSubject(tx, botId, delivery.subject_id)
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

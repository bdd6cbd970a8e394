import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { createEventRecorder } from './recorder.js'
import { listUnsentEvents, patchEvent, type RequestedEvents } from './store.js'

/** Name of the job that backfills a bot with a new address a second time; its key is the bot's id. */
export const backfillJob = 'events.missed'

/** Milliseconds: other processes cache a bot for five seconds. */
const secondLookDelay = 10_000

/**
 * Milliseconds before the first look: transactions that began then may have been invisible to it.
 */
const unseenMs = 60_000

/** Maximum number of events of one backfill: more would flood the bot. */
const maxMissed = 1000

/** A message of a user that no event reports. */
interface UnreportedMessage {
  id: string
  conversation_id: string
  user_id: string
  created_at: string
}

/** Messages of users since an ISO 8601 time that no event reports, newest first. */
export type ListUnreported = (
  tx: Tx,
  botId: string,
  since: string,
  limit: number,
) => Promise<UnreportedMessage[]>

interface BackfillDeps {
  clock: Clock
  queue: Queue
  recorder: ReturnType<typeof createEventRecorder>
  listUnreported: ListUnreported
  requestedEvents: RequestedEvents
  /** Age limit, in milliseconds, of the events that are sent to a bot when it gets an address. */
  windowMs: number
}

type Wants = Pick<BotProfile, 'wants'>

/** Payload of the job. */
export interface SecondLook {
  botId: string
  /** ISO 8601 time of the oldest event that may be sent. */
  since: string
}

/**
 * Sends a bot that gets an address the events that happened while it had none. Deliveries are not
 * requested for them earlier, because most bots without an address never get one, and their
 * messages must cost nothing.
 */
export function createBackfill(deps: BackfillDeps) {
  const { clock, queue, recorder, listUnreported, requestedEvents, windowMs } = deps

  /** Sends a bot the events that it missed since an ISO 8601 time, in order. */
  async function send(tx: Tx, botId: string, { wants }: Wants, since: string): Promise<void> {
    const messages = wants('message_created')
      ? await listUnreported(tx, botId, since, maxMissed)
      : []
    const events = await listUnsentEvents(tx, botId, since, maxMissed, requestedEvents)
    const missed = [
      ...messages.map((message) => ({ at: message.created_at, message, event: undefined })),
      ...events.map((event) => ({ at: event.created_at, message: undefined, event })),
    ]
      .sort((left, right) => (left.at < right.at ? -1 : Number(left.at > right.at)))
      .slice(-maxMissed)
    for (const { message, event } of missed) {
      if (message !== undefined) {
        await recorder.record(
          tx,
          // Messages were counted when they came.
          { wants, listens: true, hasCallQuota: false },
          {
            botId,
            type: 'message_created',
            payload: null,
            messageId: message.id,
            conversationId: message.conversation_id,
            userId: message.user_id,
          },
        )
      } else if (wants(event.type)) await recorder.sendLate(tx, event)
      else await patchEvent(tx, botId, event.id, ['pending'], { status: 'ignored' })
    }
  }

  /**
   * Sends a bot the events that it missed, in the transaction that gives it an address, so that
   * later events follow in order. Events that other processes write before they notice the address
   * follow a little later.
   */
  async function begin(tx: Tx, botId: string, profile: Wants): Promise<void> {
    if (windowMs === 0) return
    const now = clock.now()
    // Not further back: events beyond the limit of the first look are not sent later either.
    const since = isoTime(now - Math.min(unseenMs, windowMs))
    const payload: SecondLook = { botId, since }
    await queue.enqueue(tx, {
      kind: backfillJob,
      key: botId,
      payload,
      runAt: now + secondLookDelay,
    })
    await send(tx, botId, profile, isoTime(now - windowMs))
  }

  return { begin, send }
}

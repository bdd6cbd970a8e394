import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Audience } from '../../bots/bots/index.js'
import { listUnsentEvents, listUntoldMessages } from './missed-store.js'
import type { createEventRecorder } from './recorder.js'
import { patchEvent } from './store.js'

/** Name of the job that looks once more for what a bot with a new address missed; its key is the bot. */
export const missedEventsJob = 'events.missed'

/** Milliseconds: other processes trust what they know of a bot for five seconds. */
const secondLookDelay = 10_000

/** Milliseconds before the first look in which somebody may have begun to write what it did not see. */
const unseenMs = 60_000

/** Most that a bot is told of what it missed: more would be a flood and no help. */
const mostMissed = 1000

interface MissedDeps {
  clock: Clock
  queue: Queue
  recorder: ReturnType<typeof createEventRecorder>
  /** Milliseconds that a bot is told of before it got an address. */
  windowMs: number
}

type Wants = Pick<Audience, 'wants'>

/** What the second look has to know. */
export interface SecondLook {
  botId: string
  /** ISO 8601 time of the oldest that may be told. */
  since: string
}

/**
 * What happened in a bot while it had no address. Nothing is put into the outbox then: most bots without
 * one never get one, and their messages shall cost nothing. So it is looked for when there is one.
 */
export function createMissedEvents({ clock, queue, recorder, windowMs }: MissedDeps) {
  /**
   * Tells the bot of what it missed since an ISO 8601 time, in the order in which it happened. Answers
   * how much it was.
   */
  async function tell(tx: Tx, botId: string, { wants }: Wants, since: string): Promise<number> {
    const messages = wants('message_created')
      ? await listUntoldMessages(tx, botId, since, mostMissed)
      : []
    const events = await listUnsentEvents(tx, botId, since, mostMissed)
    const missed = [
      ...messages.map((message) => ({ at: message.created_at, message, event: undefined })),
      ...events.map((event) => ({ at: event.created_at, message: undefined, event })),
    ]
      .sort((left, right) => (left.at < right.at ? -1 : Number(left.at > right.at)))
      .slice(-mostMissed)
    for (const { message, event } of missed) {
      if (message !== undefined) {
        const { id: messageId, conversation_id: conversationId, user_id: userId } = message
        const told = { type: 'message_created', payload: null, messageId, conversationId, userId }
        await recorder.record(tx, { wants, listens: true }, { botId, ...told })
      } else if (wants(event.type)) await recorder.sendLate(tx, event)
      else await patchEvent(tx, botId, event.id, ['pending'], { status: 'ignored' })
    }
    return missed.length
  }

  return {
    tell,

    /**
     * Tells a bot that has just got an address, in the transaction that gives it one: what comes later
     * comes behind. What other processes are writing now, not knowing of the address, is told a little later.
     */
    async begin(tx: Tx, botId: string, audience: Wants): Promise<number> {
      if (windowMs === 0) return 0
      const now = clock.now()
      // Not further back: what the first look left out, because it was too much, stays left out.
      const since = isoTime(now - Math.min(unseenMs, windowMs))
      const payload: SecondLook = { botId, since }
      const runAt = now + secondLookDelay
      await queue.enqueue(tx, { kind: missedEventsJob, key: botId, payload, runAt })
      return await tell(tx, botId, audience, isoTime(now - windowMs))
    },
  }
}

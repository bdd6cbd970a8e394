import { ApiError } from '@botstead/contract'
import { Cron } from 'croner'
import { encodePayload } from '../../../domain/payload.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotProfiles, BotsService } from '../../bots/bots/index.js'
import type { Feature } from '../../feature.js'
import type { EventsService } from '../events/index.js'
import * as store from './store.js'

/** Recurring events as a bot declares them, by name. */
type DeclaredRecurring = Readonly<
  Record<string, { schedule: { cron: string }; type: string; payload: Record<string, unknown> }>
>

/** Health of the deliveries of a recurring event. */
interface RecurringHealth {
  failedAttempts: number
  lastFailureReason: string | null
}

interface RecurringDeps {
  run: Run
  clock: Clock
  queue: Queue
  botProfiles: BotProfiles
  events: Pick<EventsService, 'record'>
  bots: Pick<BotsService, 'recurringHealth'>
  /** Maximum bytes of a payload. */
  maxPayloadBytes: number
}

/** Name of the job that fires a recurring event; one per bot and name. */
const recurringEventJob = 'events.recur'

/** Payload of a job that fires a recurring event. */
interface RecurringJob {
  botId: string
  name: string
}

/** Recurring events, sent to bots on the schedules that they declare. */
export function createRecurring(deps: RecurringDeps) {
  const { run, clock, queue, botProfiles, events, maxPayloadBytes } = deps
  deps.bots.recurringHealth.fill(healthOf)

  async function plan(tx: Tx, botId: string, name: string, runAt: number): Promise<void> {
    await queue.enqueue(tx, {
      kind: recurringEventJob,
      key: `${botId}/${name}`,
      payload: { botId, name },
      runAt,
      maxAttempts: 100,
    })
  }

  /**
   * Replaces the recurring events of a bot by the declared ones; those that stay keep their
   * schedule.
   */
  async function declare(tx: Tx, botId: string, declared: DeclaredRecurring): Promise<void> {
    const known = new Map((await store.listRecurring(tx, botId)).map((row) => [row.name, row]))
    for (const [name, { schedule, type, payload }] of Object.entries(declared)) {
      const row = known.get(name)
      known.delete(name)
      const text = encodePayload(payload, maxPayloadBytes, `recurringEvents.${name}.payload`)
      if (row?.cron === schedule.cron) {
        await store.patchRecurring(tx, botId, name, { type, payload: text })
        continue
      }
      const next = requireNextTime(name, schedule.cron, clock.now())
      await store.upsertRecurring(tx, {
        bot_id: botId,
        name,
        cron: schedule.cron,
        type,
        payload: text,
        next_at: isoTime(next),
        failed_attempts: 0,
        last_failure_reason: null,
      })
      await plan(tx, botId, name, next)
    }
    for (const name of known.keys()) await store.deleteRecurring(tx, botId, name)
  }

  /**
   * Fires a recurring event, as its job: once, however often it was missed, and not early if its
   * time has changed since the job was enqueued.
   */
  async function fire(botId: string, name: string): Promise<void> {
    const profile = await botProfiles.of(botId)
    await run(async (tx) => {
      const row = await store.lockRecurring(tx, botId, name)
      if (row === undefined || row.next_at === null) return
      const due = Date.parse(row.next_at)
      const now = clock.now()
      if (due > now) {
        await plan(tx, botId, name, due)
        return
      }
      const { type, payload } = row
      const event = { botId, type, payload, recurring: name, isPromised: true }
      await events.record(tx, profile, event)
      const next = nextTime(row.cron, now)
      const next_at = next === null ? null : isoTime(next)
      await store.patchRecurring(tx, botId, name, { next_at })
      if (next !== null) await plan(tx, botId, name, next)
    })
  }

  /** Records whether the bot accepted a recurring event. */
  async function settle(
    tx: Tx,
    botId: string,
    name: string,
    failure: string | null,
  ): Promise<void> {
    if (failure !== null) await store.countFailure(tx, botId, name, failure)
    else {
      const health = { failed_attempts: 0, last_failure_reason: null }
      await store.patchRecurring(tx, botId, name, health)
    }
  }

  /** Health of the deliveries of the recurring events of a bot, by name. */
  async function healthOf(executor: Db | Tx, botId: string): Promise<Map<string, RecurringHealth>> {
    const rows = await store.listRecurring(executor, botId)
    return new Map(
      rows.map(({ name, failed_attempts, last_failure_reason }) => [
        name,
        { failedAttempts: failed_attempts, lastFailureReason: last_failure_reason },
      ]),
    )
  }

  const job: JobHandler<RecurringJob> = {
    concurrency: 4,
    handler: async ({ payload: { botId, name } }) => {
      await fire(botId, name)
    },
  }
  return {
    name: 'recurring-events',
    service: { declare, fire },
    jobs: { [recurringEventJob]: job },
    on: {
      'bot.recurringEventsDeclared': (tx, { botId, declared }) => declare(tx, botId, declared),
      'recurringEvent.settled': (tx, { botId, name, failure }) => settle(tx, botId, name, failure),
    },
    async purge(botId) {
      await run((tx) => store.deleteAllRecurring(tx, botId), { mayUseReserve: true })
    },
  } satisfies Feature & { service: unknown }
}

/**
 * Returns when a cron expression is next due after a time, both in milliseconds since the Unix epoch;
 * null for never. In UTC, with five fields, so that nothing is due more than once a minute.
 */
function nextTime(cron: string, after: number): number | null {
  const next = new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true }).nextRun(
    new Date(after),
  )
  return next === null ? null : next.getTime()
}

/**
 * Like {@link nextTime}, for an expression of a request.
 * @throws ApiError `InvalidPayload` for one that is malformed, or never due
 */
function requireNextTime(name: string, cron: string, after: number): number {
  const field = `recurringEvents.${name}.schedule.cron`
  let next: number | null
  try {
    next = nextTime(cron, after)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw invalid(field, `is no cron expression of five fields: ${reason}`, cause)
  }
  if (next === null) throw invalid(field, 'names a time that never comes.')
  return next
}

function invalid(field: string, rule: string, cause?: unknown): ApiError {
  return new ApiError('InvalidPayload', `body.${field} ${rule}`, {
    cause,
    metadata: { in: 'body', field },
  })
}

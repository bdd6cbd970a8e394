import type { Sweep } from '../features/feature.js'
import { type Clock, isoTime } from '../platform/clock.js'
import type { Run, Tx } from '../platform/db/schema.js'
import { type KeepStream, trimEvents } from '../platform/events/trim.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'
import type { JobHandler } from '../platform/jobs/handler.js'
import type { Queue } from '../platform/jobs/queue.js'

/** Name of the hourly job that deletes expired rows. */
const housekeepingJob = 'server.housekeeping'

const hour = 60 * 60 * 1000
const day = 24 * hour
/** The kind of that job, for those who look at jobs. */
export const housekeepingKind = { kind: housekeepingJob, everyMs: hour }

/** Days for which dead jobs are kept for the operator. */
const deadJobDays = 30
const rowsAtOnce = 500
/** Housekeeping that fails for a while, for example on a full disk, must not be given up. */
const maxAttempts = 1000

interface HousekeepingDeps {
  run: Run
  clock: Clock
  queue: Queue
  idempotency: Pick<IdempotencyStore, 'sweep'>
  /** Milliseconds for which events are kept. */
  eventRetentionMs: number
  /** Streams of events that are kept longer. */
  keepsEvents: readonly KeepStream[]
  /** Run in this order. */
  sweeps: readonly Sweep[]
}

/** Deletes expired rows hourly: of slices, events, stored responses and dead jobs. */
export function createHousekeeping(deps: HousekeepingDeps) {
  const { clock, queue, idempotency, eventRetentionMs, keepsEvents } = deps

  async function sweepAll(sweep: Sweep): Promise<void> {
    while ((await deps.run(sweep, { mayUseReserve: true })) > 0);
  }

  async function enqueue(tx: Tx, runAt: number): Promise<void> {
    await queue.enqueue(tx, { kind: housekeepingJob, key: 'all', payload: {}, runAt, maxAttempts })
  }

  const handler: JobHandler = {
    mayUseReserve: true,
    everyMs: hour,
    handler: async () => {
      const now = clock.now()
      for (const sweep of deps.sweeps) await sweepAll(sweep)
      await sweepAll(idempotency.sweep)
      const oldEvents = isoTime(now - eventRetentionMs)
      await sweepAll((tx) => trimEvents(tx, oldEvents, rowsAtOnce, keepsEvents))
      const oldJobs = isoTime(now - deadJobDays * day)
      await sweepAll((tx) => queue.trimDead(tx, oldJobs, rowsAtOnce))
    },
    onDone: async (tx) => {
      await enqueue(tx, clock.now() + hour)
    },
  }

  return {
    jobs: { [housekeepingJob]: handler },
    /** Enqueues the first run, at a start. */
    schedule: async (tx: Tx): Promise<void> => {
      await enqueue(tx, clock.now())
    },
  }
}

/** Deletes the rows of a deleted bot, slice by slice. */
export function purgeBotHandler(
  purges: readonly ((botId: string) => Promise<void>)[],
): JobHandler<{ botId: string }> {
  return {
    mayUseReserve: true,
    handler: async ({ payload: { botId } }) => {
      for (const purge of purges) await purge(botId)
    },
  }
}

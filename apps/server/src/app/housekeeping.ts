import type { Clock } from '../platform/clock.js'
import { isoTime } from '../platform/clock.js'
import type { Run, Tx } from '../platform/db/schema.js'
import { type KeepStream, trimEvents } from '../platform/events/trim.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'
import type { JobHandler } from '../platform/jobs/handler.js'
import type { Queue } from '../platform/jobs/queue.js'

/** Name of the job that forgets what has served its time. */
const housekeepingJob = 'server.housekeeping'

const hour = 60 * 60 * 1000
const day = 24 * hour
/** Days that jobs which were given up stay for the operator to look at. */
const deadJobDays = 30
const rowsAtOnce = 500
/** Housekeeping that fails for a while, such as with a full disk, must not be given up. */
const maxAttempts = 1000

interface HousekeepingDeps {
  run: Run
  clock: Clock
  queue: Queue
  idempotency: Pick<IdempotencyStore, 'sweep'>
  /** Milliseconds that events are kept. */
  eventRetention: number
  /** Which of them are needed for longer. */
  keepsEvents?: KeepStream
  /** Each removes some of what has served its time, and answers how much it was. */
  sweeps: readonly ((tx: Tx) => Promise<number>)[]
}

/** Hourly: old events, remembered answers and jobs that were given up. */
export function createHousekeeping(deps: HousekeepingDeps) {
  const { clock, queue, idempotency, eventRetention, keepsEvents, sweeps } = deps
  const remove = (sweep: (tx: Tx) => Promise<number>) => deps.run(sweep, { freesRoom: true })
  const schedule = (tx: Tx, runAt: number) =>
    queue.enqueue(tx, { kind: housekeepingJob, key: 'all', payload: {}, runAt, maxAttempts })

  const handler: JobHandler = {
    freesRoom: true,
    handler: async () => {
      const now = clock.now()
      for (const sweep of [...sweeps, idempotency.sweep]) while ((await remove(sweep)) > 0);
      const oldEvents = isoTime(now - eventRetention)
      while ((await remove((tx) => trimEvents(tx, oldEvents, rowsAtOnce, keepsEvents))) > 0);
      const oldJobs = isoTime(now - deadJobDays * day)
      while ((await remove((tx) => queue.trimDead(tx, oldJobs, rowsAtOnce))) > 0);
    },
    onDone: async (tx) => {
      await schedule(tx, clock.now() + hour)
    },
  }

  return {
    jobs: { [housekeepingJob]: handler },
    /** Asks for the round that a start begins with. */
    schedule: async (tx: Tx): Promise<void> => {
      await schedule(tx, clock.now())
    },
  }
}

import { purgeBotJob } from '../features/bots/bots/index.js'
import type { Feature } from '../features/feature.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'
import type { JobHandler } from '../platform/jobs/handler.js'
import { createRunner } from '../platform/jobs/runner.js'
import type { Closers } from './closers.js'
import type { Context } from './context.js'
import { createHousekeeping, purgeBotHandler } from './housekeeping.js'

/** Share of the remaining time for running jobs; the rest is for closing the database. */
export const shareForJobs = 0.7

/** Starts to run the jobs of all slices, and enqueues those that run at a start. */
export async function startWorker(
  context: Context,
  features: readonly Feature[],
  idempotency: IdempotencyStore,
  closers: Pick<Closers, 'add'>,
): Promise<void> {
  // Rows are deleted before those that they refer to.
  const dependentsFirst = features.toReversed()
  const housekeeping = createHousekeeping({
    run: context.run,
    clock: context.clock,
    queue: context.queue,
    idempotency,
    eventRetentionMs: context.config.eventRetentionMs,
    keepsEvents: features.flatMap(({ keepsEvents }) => keepsEvents ?? []),
    sweeps: dependentsFirst.flatMap(({ sweeps }) => sweeps ?? []),
  })
  const purges = dependentsFirst.flatMap(({ purge }) => purge ?? [])
  const runner = createRunner({
    db: context.db,
    run: context.run,
    bus: context.bus,
    clock: context.clock,
    timers: context.timers,
    ids: context.ids,
    log: context.log,
    tracing: context.tracing,
    alone: context.config.databaseUrl === undefined,
    leaseMilliseconds: context.config.jobLeaseMs,
    handlers: {
      ...jobsOf(features),
      [purgeBotJob]: purgeBotHandler(purges),
      ...housekeeping.jobs,
    },
  })
  // Also on a full disk: a server that cannot start cannot free space.
  await context.run(
    async (tx) => {
      for (const feature of features) await feature.schedule?.(tx)
      await housekeeping.schedule(tx)
    },
    { mayUseReserve: true },
  )
  await runner.start()
  closers.add('jobs', (timeLeft) => runner.stop({ deadline: timeLeft * shareForJobs }))
  for (const feature of features) await feature.start?.()
}

/** The handlers of all slices by kind. Throws if two slices have the same kind. */
function jobsOf(features: readonly Feature[]): Record<string, JobHandler> {
  const handlers = new Map<string, JobHandler>()
  for (const { name, jobs } of features) {
    for (const [kind, handler] of Object.entries(jobs ?? {})) {
      if (handlers.has(kind)) throw new Error(`Two slices have jobs of the kind ${kind}: ${name}`)
      handlers.set(kind, handler)
    }
  }
  return Object.fromEntries(handlers)
}

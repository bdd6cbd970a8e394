import type { IdempotencyStore } from '../platform/idempotency/store.js'
import { createRunner } from '../platform/jobs/runner.js'
import type { Foundation } from './context.js'
import { createHousekeeping } from './housekeeping.js'
import type { Slices } from './slices.js'
import type { Closers } from './stop.js'

/** Share of the time that is left which running jobs get; the rest is for closing the database. */
const shareForJobs = 0.7

/** Begins to work off the jobs of all slices, and asks for those that a start begins with. */
export async function startWorker(
  foundation: Foundation,
  slices: Pick<
    Slices,
    | 'jobs'
    | 'files'
    | 'search'
    | 'chat'
    | 'integrations'
    | 'runtime'
    | 'deliveries'
    | 'botLogs'
    | 'actions'
  >,
  idempotency: IdempotencyStore,
  closers: Pick<Closers, 'add'>,
): Promise<void> {
  const housekeeping = createHousekeeping({
    ...foundation,
    idempotency,
    eventRetention: foundation.config.eventRetentionMs,
    keepsEvents: slices.deliveries.keepsSignals,
    sweeps: [
      ...(slices.chat.sweeps ?? []),
      // Before what they tell of.
      ...(slices.deliveries.sweeps ?? []),
      slices.runtime.sweep,
      ...(slices.integrations.sweeps ?? []),
      ...(slices.botLogs.sweeps ?? []),
      ...(slices.actions.sweeps ?? []),
    ],
  })
  const runner = createRunner({
    ...foundation,
    alone: foundation.config.databaseUrl === undefined,
    leaseMilliseconds: foundation.config.jobLeaseMs,
    handlers: { ...slices.jobs, ...housekeeping.jobs },
  })
  // Also on a full disk: who cannot start cannot delete.
  await foundation.run(
    async (tx) => {
      await slices.files.schedule(tx)
      await slices.search.schedule(tx)
      await housekeeping.schedule(tx)
    },
    { freesRoom: true },
  )
  await runner.start()
  await slices.deliveries.start?.()
  closers.add('deliveries', async (timeLeft) => {
    await slices.deliveries.stop?.(timeLeft * shareForJobs)
  })
  closers.add('jobs', (timeLeft) => runner.stop({ deadline: timeLeft * shareForJobs }))
}

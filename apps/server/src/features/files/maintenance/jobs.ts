import type { Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { scheduleExpiry } from '../expiry.js'
import { expireFilesJob, sweepBlobsJob, sweepOrphansJob } from '../job-kinds.js'
import type { FilesDeps } from '../service.js'
import { findNextExpiry } from '../store.js'
import type { Sweeps } from './sweeps.js'

const day = 24 * 60 * 60 * 1000
/** A sweep that fails for a while, such as with a full disk, must not be given up. */
const maxAttempts = 1000

export function createFilesJobs({
  queue,
  clock,
  sweeps,
}: Pick<FilesDeps, 'queue' | 'clock'> & { sweeps: Sweeps }) {
  const scheduleOrphans = (tx: Tx, runAt: number) =>
    queue.enqueue(tx, { kind: sweepOrphansJob, key: 'all', payload: {}, runAt, maxAttempts })

  const handlers = {
    [sweepBlobsJob]: {
      freesRoom: true,
      handler: (_job, { signal }) => sweeps.discardedBlobs(signal),
    },

    [sweepOrphansJob]: {
      freesRoom: true,
      handler: async (_job, { signal }) => {
        await sweeps.abandonedUploads(signal)
        await sweeps.orphans(signal)
      },
      onDone: async (tx) => {
        await scheduleOrphans(tx, clock.now() + day)
      },
    },

    [expireFilesJob]: {
      freesRoom: true,
      handler: (_job, { signal }) => sweeps.expiredFiles(signal),
      // Each run asks for the next, so that nobody has to look every minute.
      onDone: async (tx) => {
        const next = await findNextExpiry(tx)
        if (next !== undefined) await scheduleExpiry(queue, tx, next)
      },
    },
  } satisfies Record<string, JobHandler>

  return {
    handlers,

    /** Asks for the sweeps that a start begins with. */
    async schedule(tx: Tx): Promise<void> {
      await scheduleOrphans(tx, clock.now())
      const next = await findNextExpiry(tx)
      if (next !== undefined) await scheduleExpiry(queue, tx, next)
    },
  }
}

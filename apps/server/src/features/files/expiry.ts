import type { Tx } from '../../platform/db/schema.js'
import type { Queue } from '../../platform/jobs/queue.js'
import { expireFilesJob } from './job-kinds.js'

/** A sweep that fails for a while, such as with a full disk, must not be given up. */
const maxAttempts = 1000

/**
 * Has expired files deleted at a time.
 * @param at ISO 8601; the earliest of all that were asked for counts
 */
export async function scheduleExpiry(queue: Queue, tx: Tx, at: string): Promise<void> {
  const runAt = Date.parse(at)
  await queue.enqueue(tx, { kind: expireFilesJob, key: 'all', payload: {}, runAt, maxAttempts })
}

import { BlobStoreAwayError } from '../../../platform/blobs/blob-store.js'
import type { Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { JobDeadlineError } from '../../../platform/jobs/errors.js'
import type { Job, JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import {
  type ClearPassages,
  clearPassagesJob,
  countOmissions,
  type IndexFile,
  indexFileJob,
} from '../../files/index.js'
import type { SearchMeter } from '../metrics.js'
import {
  createClearPassages,
  createListWords,
  createReplaceEntries,
  listWordsJob,
  replaceEntriesJob,
} from './existing-passages.js'
import {
  createIndexFile,
  type IndexFileDeps,
  type IndexOutcome,
  UnreadableContentError,
} from './index-file.js'

export { createIngestPool, type IngestPoolOptions } from './ingest.js'

/** Files that one process indexes at a time, at least. */
const minConcurrency = 4

/** The jobs that turn files into passages and remove passages that are no longer needed. */
export function createIndexingJobs(
  deps: IndexFileDeps & { queue: Queue; meter: Pick<SearchMeter, 'indexed'> },
): Record<string, JobHandler> {
  const { indexing, log, meter } = deps
  const { places } = deps.ingestPool
  // One more than are read, so that slow files leave a slot for one that is already read.
  const concurrency = Math.max(minConcurrency, places + 1)

  async function publish(tx: Tx, job: IndexFile, outcome: IndexOutcome): Promise<void> {
    const { botId: bot, fileId: file, generation } = job
    const failedReason = outcome && 'failedReason' in outcome ? outcome.failedReason : undefined
    const result = { failedReason, reading: outcome?.reading }
    if (outcome !== undefined && (await indexing.finish(tx, job, result))) {
      const omissions = outcome.reading && countOmissions(outcome.reading)
      afterCommit(tx, () => {
        meter.indexed('passages' in outcome ? 'indexed' : 'failed')
        if ('passages' in outcome) {
          const { passages } = outcome
          log.info({ bot, file, generation, passages, omissions }, 'file indexed')
        } else {
          log.warn({ bot, file, generation, reason: failedReason, omissions }, 'file not indexed')
        }
      })
      return
    }
    const payload: ClearPassages = { botId: bot, fileId: file }
    afterCommit(tx, () => meter.indexed('superseded'))
    await deps.queue.enqueue(tx, { kind: clearPassagesJob, key: file, payload })
  }

  const index: JobHandler<IndexFile, IndexOutcome> = {
    concurrency,
    // However slow the many files of one bot are, they leave a place for the first file of another bot, and those of
    // many bots, where there are three places, one for each other workspace.
    perScope: { high: Math.max(2, places - 1), others: Math.max(1, places - 2) },
    // No fault of the files: all that are indexed meanwhile would fail.
    isAway: (error) => error instanceof BlobStoreAwayError,
    comesLast: (error) => error instanceof UnreadableContentError,
    handler: createIndexFile(deps),
    onDone: (tx, { payload }, outcome) => publish(tx, payload, outcome),
    onDead: (tx, job, error) => publish(tx, job.payload, { failedReason: adviceOn(error, job) }),
  }

  return {
    [indexFileJob]: index,
    [clearPassagesJob]: createClearPassages(deps),
    [listWordsJob]: createListWords(deps),
    [replaceEntriesJob]: createReplaceEntries(deps),
  }
}

/** The failure reason for the author of a file that was given up: the cause, and advice. */
function adviceOn(error: Error, { id, attempt }: Job<IndexFile>): string {
  const again = 'index the file again, or upload it again'
  if (error instanceof JobDeadlineError) {
    return `Indexing was given up after ${attempt} attempts, each of which took too long. Split the file into smaller ones, or ${again} when the server is less busy.`
  }
  if (error instanceof UnreadableContentError) {
    return `The stored content could not be read, ${attempt} times, although the store of contents responds. Upload the file again; the log of the server says why under the job ${id}.`
  }
  return `The server could not index the file, ${attempt} times. Its log says why under the job ${id}; when that is fixed, ${again}.`
}

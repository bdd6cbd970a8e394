import { createHash } from 'node:crypto'
import { purge } from '../../platform/db/purge.js'
import type { Job, JobContext, JobHandler } from '../../platform/jobs/handler.js'
import type { Tx } from '../../schema.js'
import {
  type ClearPassages,
  clearPassagesJob,
  type FilesIndexing,
  type IndexableContent,
  type IndexFile,
  indexFileJob,
} from '../files/index.js'
import { readCopied } from './copied-passages.js'
import { ExtractionError } from './extract/extraction-error.js'
import type { IngestedPassage } from './ingest-task.js'
import { ingest } from './pipeline.js'
import type { SearchDeps } from './service.js'
import * as store from './store.js'

/** Passages per transaction: few enough that nobody waits long for the database. */
const batchSize = 100
/** Files that one process indexes at a time; the workers that read them are fewer or as many. */
const concurrency = 2

/** Why a file has no passages; undefined when it has. */
interface Outcome {
  failedReason: string | undefined
}

/** What search does in the background: read files into passages, and remove those of no use. */
export function createSearchJobs(
  deps: Pick<
    SearchDeps,
    'db' | 'run' | 'ids' | 'queue' | 'index' | 'vectors' | 'ingestPool' | 'limits'
  > & {
    indexing: FilesIndexing
  },
): Record<string, JobHandler> {
  const { run, indexing } = deps

  /** Nobody sees the passages before the generation is published, so they need not come at once. */
  async function write(
    job: IndexFile,
    passages: readonly IngestedPassage[],
    signal: AbortSignal,
  ): Promise<void> {
    const { botId, fileId, generation } = job
    // An attempt before this one may have come half way.
    await purge(run, (tx, limit) => store.deleteGeneration(tx, botId, fileId, generation, limit))
    for (let start = 0; start < passages.length; start += batchSize) {
      signal.throwIfAborted()
      const batch = passages.slice(start, start + batchSize)
      const rows = batch.map((passage) => toRow(passage, job, deps.ids.uuid()))
      await run(async (tx) => {
        const numbers = await store.insertPassages(tx, rows)
        const entries = batch.map(({ fields }, at) => ({ number: numbers[at] ?? 0, fields }))
        await deps.index.add(tx, botId, entries)
        await deps.vectors.add(tx, botId, numbers)
      })
    }
  }

  async function extractPassages(
    content: IndexableContent,
    signal: AbortSignal,
  ): Promise<IngestedPassage[]> {
    const bytes = await readWhole(content, signal)
    const request = {
      content: { bytes },
      contentType: content.contentType,
      key: content.key,
      configuration: content.configuration,
      maximumPassages: deps.limits.passagesPerFile,
      maximumBytes: deps.limits.indexedFileBytes,
    }
    return (await ingest(deps.ingestPool, request, signal)).passages
  }

  async function indexFile(job: Job<IndexFile>, { signal }: JobContext): Promise<Outcome> {
    const content = await indexing.find(job.payload)
    // Replaced or deleted: there is nothing to say, and nobody to say it to.
    if (content === undefined) return { failedReason: undefined }
    const { passages: from } = job.payload
    const copied = from && (await readCopied(deps, from, content.configuration.chunking))
    try {
      const passages = copied ?? (await extractPassages(content, signal))
      await write(job.payload, passages, signal)
      return { failedReason: undefined }
    } catch (error) {
      if (error instanceof ExtractionError) return { failedReason: error.message }
      throw error
    }
  }

  async function publish(tx: Tx, job: IndexFile, failedReason?: string): Promise<void> {
    if (await indexing.finish(tx, job, failedReason)) return
    const payload: ClearPassages = { botId: job.botId, fileId: job.fileId }
    await deps.queue.enqueue(tx, { kind: clearPassagesJob, key: job.fileId, payload })
  }

  const index: JobHandler<IndexFile, Outcome> = {
    concurrency,
    handler: indexFile,
    onDone: (tx, { payload }, { failedReason }) => publish(tx, payload, failedReason),
    onDead: (tx, { payload }) =>
      publish(
        tx,
        payload,
        'The server could not index the file. Its log says why; upload the file again to try again.',
      ),
  }

  const clear: JobHandler<ClearPassages> = {
    handler: async ({ payload: { botId, fileId } }) => {
      const useful = await indexing.usefulPassages(botId, fileId)
      await purge(run, (tx, limit) => store.deleteUseless(tx, botId, fileId, useful, limit))
    },
  }

  return { [indexFileJob]: index, [clearPassagesJob]: clear }
}

/**
 * Reads a content into memory of its own, which the worker takes over.
 * @throws when the blob does not hold what was uploaded
 */
async function readWhole(content: IndexableContent, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(content.size)
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of await content.open()) {
    signal.throwIfAborted()
    if (!(chunk instanceof Uint8Array)) throw new TypeError('A blob is made of bytes.')
    if (size + chunk.length > bytes.length)
      throw new Error('The blob is longer than the upload was.')
    hash.update(chunk)
    bytes.set(chunk, size)
    size += chunk.length
  }
  if (size !== content.size || hash.digest('hex') !== content.sha256) {
    throw new Error('The blob is not what was uploaded.')
  }
  return bytes
}

function toRow(passage: IngestedPassage, job: IndexFile, id: string) {
  return {
    id,
    bot_id: job.botId,
    file_id: job.fileId,
    generation: job.generation,
    position: passage.position,
    subtype: passage.subtype,
    page_number: passage.pageNumber ?? null,
    content: passage.content,
    headings: JSON.stringify(passage.headings),
    own_headings: JSON.stringify(passage.ownHeadings),
    start_offset: passage.start,
    end_offset: passage.end,
  }
}

import { access } from 'node:fs/promises'
import { ExtractionError } from '@botstead/documents'
import { BlobNotFoundError, BlobStoreAwayError } from '../../../platform/blobs/blob-store.js'
import type { Clock } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { hasErrorCode } from '../../../platform/disk/durable-files.js'
import type { Ids } from '../../../platform/ids.js'
import type { Job, JobContext } from '../../../platform/jobs/handler.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { FilesIndexing, IndexableContent, IndexFile } from '../../files/index.js'
import type { KeywordIndex } from '../keywords/index.js'
import * as store from '../passage-store.js'
import type { VectorJobs } from '../vectors/index.js'
import { insertWords } from '../vocabulary-store.js'
import { readCopied } from './copied-passages.js'
import { type Content, lostContent } from './ingest-content.js'
import type { IngestedPassage } from './ingest-task.js'
import { type IngestPool, ingest } from './pipeline.js'
import { createProgressReport, type ProgressReport } from './progress-report.js'

/** What one transaction takes: so little that nobody waits long for the database. */
const mostInBatch = { passages: 100, characters: 16_000 }
/** Shares of the work, in percent: what comes before the passages are written, and before they are found. */
const readPercent = 60
const writtenPercent = 99

/** What became of a file. */
export type IndexOutcome =
  | { passages: number }
  /** For its author. */
  | { failedReason: string }
  /** It was replaced or deleted meanwhile. */
  | undefined

export interface IndexFileDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  log: Log
  index: KeywordIndex
  vectors: Pick<VectorJobs, 'add'>
  ingestPool: IngestPool
  limits: {
    passagesPerFile: number
    indexedFileBytes: number
  }
  indexing: FilesIndexing
  /** Milliseconds between two reports of progress. */
  progressPauseMs?: number | undefined
}

/**
 * Makes one generation ready to be found: `extract` reads the content and has it cut, `embed` writes the
 * passages to the index. Both can be repeated; nobody sees anything of it before it is published.
 */
export function createIndexFile(deps: IndexFileDeps) {
  const { run, indexing } = deps

  async function extract(
    content: IndexableContent,
    report: ProgressReport,
    signal: AbortSignal,
  ): Promise<IngestedPassage[]> {
    report.say({ step: 'extract', percent: 0 })
    const { passages } = await ingest(
      deps.ingestPool,
      {
        content: await openContent(content, indexing),
        sha256: content.sha256,
        isPassages: content.isPassages,
        contentType: content.contentType,
        key: content.key,
        configuration: content.configuration,
        maximumPassages: deps.limits.passagesPerFile,
        maximumBytes: content.isPassages ? content.size : deps.limits.indexedFileBytes,
      },
      signal,
      {
        onProgress: ({ step, pages, percent }) =>
          report.say({
            step,
            percent: Math.floor((readPercent * percent) / 100),
            ...(pages !== undefined && { pages }),
          }),
      },
    )
    return passages
  }

  async function embed(
    { botId, fileId, generation }: IndexFile,
    passages: readonly IngestedPassage[],
    report: ProgressReport,
    signal: AbortSignal,
  ): Promise<void> {
    // An attempt before this one may have come half way.
    await purge(
      run,
      (tx, limit) => store.deleteGeneration(tx, botId, fileId, generation, limit),
      store.passagesDeletedAtOnce,
    )
    let written = 0
    for (const batch of toBatches(passages)) {
      signal.throwIfAborted()
      const share = written / passages.length
      report.say({
        step: 'embed',
        percent: Math.floor(readPercent + (writtenPercent - readPercent) * share),
        passages: written,
        passagesTotal: passages.length,
      })
      const rows = batch.map((passage) => ({
        id: deps.ids.uuid(),
        bot_id: botId,
        file_id: fileId,
        generation,
        ...toColumns(passage),
      }))
      await run(async (tx) => {
        const numbers = await store.insertPassages(tx, rows)
        const entries = batch.map(({ fields }, at) => ({ number: numbers[at] ?? 0, fields }))
        await deps.index.add(tx, botId, entries)
        const words = batch.flatMap((passage) => passage.words)
        await insertWords(tx, botId, words)
        await deps.vectors.add(tx, botId, numbers)
      })
      written += batch.length
    }
    const { length } = passages
    report.say({
      step: 'publish',
      percent: writtenPercent,
      passages: length,
      passagesTotal: length,
    })
  }

  return async (job: Job<IndexFile>, { signal }: JobContext): Promise<IndexOutcome> => {
    const content = await indexing.find(job.payload)
    if (content === undefined) return undefined
    await using report = createProgressReport(deps, job)
    try {
      const { passages: from } = job.payload
      const to = { key: content.key, context: content.configuration.chunking }
      const copied = from && (await readCopied(deps, from, to, signal))
      const passages = copied ?? (await extract(content, report, signal))
      await embed(job.payload, passages, report, signal)
      return { passages: passages.length }
    } catch (error) {
      if (error instanceof ExtractionError) return { failedReason: error.message }
      throw error
    }
  }
}

/**
 * @throws ExtractionError if the storage has lost it, which no further try would change
 * @throws BlobStoreAwayError if no content can be reached now
 */
async function openContent(
  content: IndexableContent,
  { checkContents }: Pick<FilesIndexing, 'checkContents'>,
): Promise<Content> {
  const opened = await openIfThere(content)
  if (opened) return opened
  // Every content is missing in a folder that is not mounted now.
  await checkContents().catch((cause: unknown) => {
    throw new BlobStoreAwayError('The store of contents cannot be reached', { cause })
  })
  // It may have been back by the time of the check.
  const found = await openIfThere(content)
  if (found) return found
  throw lostContent('The stored content is missing')
}

async function openIfThere({ path, open }: IndexableContent): Promise<Content | undefined> {
  try {
    if (path === undefined) return { stream: await open() }
    await access(path)
    return { path }
  } catch (error) {
    if (error instanceof BlobNotFoundError || hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function* toBatches(passages: readonly IngestedPassage[]): Generator<IngestedPassage[]> {
  let batch: IngestedPassage[] = []
  let characters = 0
  for (const passage of passages) {
    const { length } = passage.content
    const isFull =
      batch.length === mostInBatch.passages || characters + length > mostInBatch.characters
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(passage)
    characters += length
  }
  if (batch.length > 0) yield batch
}

function toColumns(passage: IngestedPassage) {
  return {
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

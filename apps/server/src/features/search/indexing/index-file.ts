import { access } from 'node:fs/promises'
import { ExtractionError, type Reading } from '@botstead/documents'
import { BlobNotFoundError, BlobStoreAwayError } from '../../../platform/blobs/blob-store.js'
import type { Clock } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { hasErrorCode } from '../../../platform/disk/files.js'
import type { Ids } from '../../../platform/ids.js'
import type { Job, JobContext } from '../../../platform/jobs/handler.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type {
  FilesIndexing,
  IndexableContent,
  IndexFile,
  IndexingProgress,
} from '../../files/index.js'
import type { KeywordIndex } from '../keywords/index.js'
import * as store from '../passage-store.js'
import type { VectorJobs } from '../vectors/index.js'
import { insertWords } from '../vocabulary-store.js'
import { readCopied } from './copied-passages.js'
import { type Content, type IngestPool, ingest } from './ingest.js'
import { type IndexedContent, type IngestedPassage, lostContent } from './ingest-task.js'

/** Limits of one transaction: small enough that no other transaction waits long. */
const maxInBatch = { passages: 100, characters: 16_000 }
/** Shares of the work, in percent: until the passages are written, and until they are published. */
const readPercent = 60
const writtenPercent = 99

/** The outcome for a file. */
export type IndexOutcome =
  | { passages: number; reading?: Reading | undefined }
  /** The reason for the author. */
  | { failedReason: string; reading?: Reading | undefined }
  /** The file was replaced or deleted in the meantime. */
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
 * Makes one generation searchable: `extract` reads the content and cuts it into passages, `embed` writes them
 * to the index. Both can be repeated; nothing is visible before it is published.
 */
export function createIndexFile(deps: IndexFileDeps) {
  const { run, indexing } = deps

  async function extract(
    content: IndexableContent,
    progress: ProgressReport,
    signal: AbortSignal,
  ): Promise<IndexedContent> {
    progress.report({ step: 'extract', percent: 0 })
    return await ingest(
      deps.ingestPool,
      {
        content: await openContent(content, indexing),
        sha256: content.sha256,
        isPassages: content.isPassages,
        contentType: content.contentType,
        key: content.key,
        configuration: content.configuration,
        maxPassages: deps.limits.passagesPerFile,
        maxBytes: content.isPassages ? content.size : deps.limits.indexedFileBytes,
      },
      signal,
      {
        onProgress: ({ step, pages, percent }) =>
          progress.report({
            step,
            percent: Math.floor((readPercent * percent) / 100),
            ...(pages !== undefined && { pages }),
          }),
      },
    )
  }

  async function embed(
    { botId, fileId, generation }: IndexFile,
    passages: readonly IngestedPassage[],
    progress: ProgressReport,
    signal: AbortSignal,
  ): Promise<void> {
    // A previous attempt may have stopped half way.
    await purge(
      run,
      (tx, limit) => store.deleteGeneration(tx, botId, fileId, generation, limit),
      store.passagesDeletedAtOnce,
    )
    let written = 0
    for (const batch of toBatches(passages)) {
      signal.throwIfAborted()
      const share = written / passages.length
      progress.report({
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
    progress.report({
      step: 'publish',
      percent: writtenPercent,
      passages: length,
      passagesTotal: length,
    })
  }

  return async (job: Job<IndexFile>, { signal }: JobContext): Promise<IndexOutcome> => {
    const content = await indexing.find(job.payload)
    if (content === undefined) return undefined
    await using progress = createProgressReport(deps, job)
    try {
      const { passages: from } = job.payload
      const to = { key: content.key, context: content.configuration.chunking }
      const copied = from && (await readCopied(deps, from, to, signal))
      const { passages, reading } = copied ?? (await extract(content, progress, signal))
      await embed(job.payload, passages, progress, signal)
      return { passages: passages.length, reading }
    } catch (error) {
      if (error instanceof ExtractionError) {
        return { failedReason: error.message, reading: error.reading }
      }
      throw error instanceof BlobStoreAwayError ? await faultOf(error, indexing) : error
    }
  }
}

/** One content cannot be read, such as behind a proxy that cuts it, while the store of contents responds. */
export class UnreadableContentError extends Error {
  override name = 'UnreadableContentError'
}

/** Whether a failed reading is the fault of the whole store, or of the one content. */
async function faultOf(
  error: BlobStoreAwayError,
  { checkContents }: Pick<FilesIndexing, 'checkContents'>,
): Promise<Error> {
  try {
    await checkContents()
  } catch {
    return error
  }
  const message = 'The content cannot be read, although the store of contents responds'
  return new UnreadableContentError(message, { cause: error })
}

/**
 * @throws ExtractionError if the storage has lost the content, which a retry would not change
 * @throws BlobStoreAwayError if contents cannot be reached at the moment
 */
async function openContent(
  content: IndexableContent,
  { checkContents }: Pick<FilesIndexing, 'checkContents'>,
): Promise<Content> {
  const opened = await openIfThere(content)
  if (opened) return opened
  // In an unmounted folder every content is missing.
  await checkContents().catch((cause: unknown) => {
    throw new BlobStoreAwayError('The store of contents cannot be reached', { cause })
  })
  // The store may have become reachable before the check.
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
    if (error instanceof BlobStoreAwayError) throw error
    // Such as credentials that are no longer valid: the operator of the server can mend it, not the author.
    throw new BlobStoreAwayError('The store of contents cannot be read', { cause: error })
  }
}

function* toBatches(passages: readonly IngestedPassage[]): Generator<IngestedPassage[]> {
  let batch: IngestedPassage[] = []
  let characters = 0
  for (const passage of passages) {
    const { length } = passage.content
    const isFull =
      batch.length === maxInBatch.passages || characters + length > maxInBatch.characters
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

/** Milliseconds between two reports: frequent enough for people, rare enough for the database. */
const defaultProgressPauseMs = 500

type StepProgress = Pick<
  IndexingProgress,
  'step' | 'percent' | 'pages' | 'passages' | 'passagesTotal'
>

/** Reports the progress of one attempt: in the file, for its author, and in the log, for the operator. */
interface ProgressReport extends AsyncDisposable {
  /** Never throws and never waits; reports that follow too soon are dropped. */
  report(progress: StepProgress): void
}

/** A small file is done before its first report is due, and costs none. */
function createProgressReport(
  { indexing, clock, log, progressPauseMs = defaultProgressPauseMs }: IndexFileDeps,
  { id, payload, attempt }: Job<IndexFile>,
): ProgressReport {
  const begin = clock.now()
  let last = begin
  let step: StepProgress['step'] | undefined
  let writing: Promise<void> | undefined
  let next: StepProgress | undefined

  async function write(progress: StepProgress): Promise<void> {
    const { botId: bot, fileId: file, generation } = payload
    log.info({ job: id, bot, file, attempt, ...progress }, 'indexing')
    try {
      await indexing.report(payload, { ...progress, attempt, generation })
    } catch (err) {
      log.warn({ err, job: id }, 'the progress of a file could not be stored')
    }
    writing = undefined
    const waiting = next
    next = undefined
    if (waiting !== undefined) start(waiting)
  }

  function start(progress: StepProgress): void {
    last = clock.now()
    step = progress.step
    writing = write(progress)
  }

  return {
    report(progress) {
      const now = clock.now()
      // An observer of a slow file must see each step begin.
      const isNewStep = progress.step !== step && now - begin >= progressPauseMs
      if (!isNewStep && now - last < progressPauseMs) return
      if (writing === undefined) start(progress)
      else if (isNewStep) next = progress
    },
    // No report may follow the outcome of the attempt.
    async [Symbol.asyncDispose]() {
      while (writing !== undefined) await writing
    },
  }
}

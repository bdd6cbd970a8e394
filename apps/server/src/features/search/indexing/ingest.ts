import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  type ChunkOptions,
  defaultChunkOptions,
  ExtractionError,
  minPassageLimit,
} from '@botstead/documents'
import { WorkerLimitError } from '../../../platform/workers/gate.js'
import {
  createWorkerPool,
  type WorkerPool,
  type WorkerPoolOptions,
} from '../../../platform/workers/worker-pool.js'
import type { IndexableContent } from '../../files/index.js'
import { requireOutput, requirePiece } from './ingest-output.js'
import type {
  IngestedPassage,
  IngestInput,
  Ingestion,
  IngestOutput,
  IngestPiece,
  IngestProgress,
  PassageText,
  PassageWords,
  TextsInput,
  WorkerContent,
} from './ingest-task.js'

const megabyte = 1024 * 1024
/** Few, because more of them would compete for the same processors without finishing sooner. */
const maxSlowPlaces = 3
/** Larger files are not indexed. */
const maxFileBytes = 95_000_000

/** Limits of a single document. */
interface DocumentLimits {
  /** Pages or slides; documents with more are refused. */
  maxPages: number
  /** Bytes that the parts of a packed document may have in total when unpacked. */
  maxUnpackedBytes: number
  /** Milliseconds that reading may take. */
  timeLimitMs: number
}

/** Processes that turn files into passages. */
export interface IngestPool
  extends WorkerPool<IngestInput, IngestOutput, IngestProgress, IngestPiece> {
  readonly limits: DocumentLimits
  /** Files that are read concurrently, slow ones included. */
  readonly places: number
}

/** A file to be indexed. */
export interface IngestRequest {
  content: Content
  /** Whether the content consists of passages from a caller, as JSON. */
  isPassages?: boolean
  contentType: string
  key: string
  /** SHA-256 that the content must have, in hex; not checked if missing. */
  sha256?: string
  configuration?: IndexableContent['configuration']
  /** More passages than this are refused; 5,000 by default. */
  maxPassages?: number
  /** Larger files are refused, in bytes; 95 MB by default. */
  maxBytes?: number
}

/** Optional parts of a request. */
export interface IngestOptions {
  /** Called with the progress, a few times a second at most; must not throw. */
  onProgress?(progress: IngestProgress): void
}

/** Limits of the pool that differ from the defaults. */
export type IngestPoolOptions = Partial<Omit<WorkerPoolOptions, 'entry'> & DocumentLimits> &
  Pick<WorkerPoolOptions, 'onError'>

/** Creates the pool; it has no process until there is a file. */
export function createIngestPool(options: IngestPoolOptions): IngestPool {
  const { maxPages = 5000, maxUnpackedBytes = 256 * megabyte, ...workers } = options
  // One processor stays free for requests.
  const { workers: ordinary = Math.max(1, availableParallelism() - 1) } = workers
  const { memoryLimitMb = 512, timeLimitMs = 120_000 } = workers
  const { slow = { places: slowPlacesIn(memoryLimitMb, ordinary), afterMs: 1000 } } = workers
  const pool = createWorkerPool<IngestInput, IngestOutput, IngestProgress, IngestPiece>({
    maxQueue: 100,
    maxOutputBytes: 64 * megabyte,
    idleTimeoutMs: 30_000,
    ...workers,
    workers: ordinary,
    slow,
    memoryLimitMb,
    timeLimitMs,
    entry: new URL('./ingest-worker.js', import.meta.url),
  })
  return {
    ...pool,
    limits: { maxPages, maxUnpackedBytes, timeLimitMs },
    places: ordinary + slow.places,
  }
}

/**
 * Slots for slow files, which are read beside the others: a few, within half of
 * the memory; at least one, because one slow file must never block the rest.
 */
function slowPlacesIn(memoryLimitMb: number, ordinary: number): number {
  const allowed = process.constrainedMemory() || Number.POSITIVE_INFINITY
  const readers = Math.floor(Math.min(totalmem(), allowed) / 2 / (memoryLimitMb * megabyte))
  return Math.min(maxSlowPlaces, Math.max(1, readers - ordinary))
}

/**
 * Extracts and chunks one file in a worker.
 *
 * @throws ExtractionError if the file cannot be indexed, with a reason for its author
 * @throws WorkerLimitError with limit `queue` if the pool is too busy
 * @throws WorkerExitError if the worker ended for a reason unrelated to the file
 */
export async function ingest(
  pool: IngestPool,
  request: IngestRequest,
  signal?: AbortSignal,
  options: IngestOptions = {},
): Promise<Ingestion> {
  const { content, isPassages = false, contentType, key, sha256, configuration = {} } = request
  const { maxBytes = maxFileBytes, maxPassages } = request
  const input = {
    isPassages,
    contentType,
    key,
    ...(sha256 !== undefined && { sha256 }),
    maxBytes,
    ...pool.limits,
    allowPartial: configuration.parsing?.allowPartial ?? false,
    chunking: toChunkOptions(configuration, maxPassages),
    context: configuration.chunking ?? {},
  }
  const passages: IngestedPassage[] = []
  const output = await withWorkerContent(content, { maxBytes, signal }, (opened) =>
    runChecked(pool, { ...input, content: opened }, { ...options, signal }, (piece) => {
      if ('passages' in piece) passages.push(...piece.passages)
    }),
  ).catch((error: unknown) => {
    throw toExtractionError(error) ?? error
  })
  if ('failure' in output) {
    const { failure: kind, message, reading } = output
    throw new ExtractionError(kind, message, { reading })
  }
  return { ...output, passages }
}

/**
 * Runs a task of the pool, whose results are checked.
 *
 * @param take receives the parts of the output that arrive ahead of the rest; must not throw
 * @throws Error if a result is no output of a reader
 */
async function runChecked(
  pool: IngestPool,
  input: IngestInput,
  { signal, ...options }: IngestOptions & { signal: AbortSignal | undefined },
  take: (piece: IngestPiece) => void,
): Promise<IngestOutput> {
  let fault: unknown
  const output = await pool.run(input, {
    ...options,
    ...(signal && { signal }),
    onPiece(piece) {
      try {
        requirePiece(piece)
        take(piece)
      } catch (error) {
        fault ??= error
      }
    },
  })
  if (fault !== undefined) throw fault
  requireOutput(output)
  return output
}

/** A passage is displayed and prompted as a whole, so no option makes it longer than this. */
const maxPassageLimit = 20_000

/** The chunking options of a document, from its configuration and the limits of the server. */
function toChunkOptions(
  { parsing, chunking }: IndexableContent['configuration'],
  maxPassages = defaultChunkOptions.maxPassages,
): ChunkOptions {
  const wanted = chunking?.maximumChunkLength ?? defaultChunkOptions.maxLength
  const maxLength = Math.min(Math.max(wanted, minPassageLimit), maxPassageLimit)
  return {
    maxLength: Math.trunc(maxLength),
    minParagraphLength: parsing?.minimumParagraphLength ?? defaultChunkOptions.minParagraphLength,
    // An explicit minimum is followed exactly.
    packsShort: parsing?.minimumParagraphLength === undefined,
    maxPassages,
  }
}

/**
 * Lists the words of existing passages, in order, in a worker: comparing letters by the thousand would
 * block the server.
 *
 * @param texts few enough for one batch; each word is listed once among them
 * @throws ExtractionError if the worker failed; otherwise like the pool
 */
export async function listPassageWords(
  pool: IngestPool,
  texts: readonly PassageText[],
  { key, context }: Pick<TextsInput, 'key' | 'context'>,
  signal?: AbortSignal,
): Promise<PassageWords[]> {
  const words: PassageWords[] = []
  const output = await runChecked(pool, { texts, key, context }, { signal }, (piece) => {
    if ('words' in piece) words.push(...piece.words)
  })
  // With fewer words than passages, the caller would request the rest forever, or index passages without words.
  if ('failure' in output) throw new ExtractionError(output.failure, output.message)
  return words
}

function toExtractionError(error: unknown): ExtractionError | undefined {
  if (!(error instanceof WorkerLimitError)) return undefined
  switch (error.limit) {
    case 'time':
      return failure(
        'too_slow',
        `Reading the document was given up: ${error.message}.`,
        'BOTSTEAD_INDEXING_TIMEOUT_MS',
        error,
      )
    case 'memory':
      return failure(
        'too_much_memory',
        `Reading the document failed: ${error.message}.`,
        'BOTSTEAD_INDEXING_MEMORY_BYTES',
        error,
      )
    case 'output':
      return failure(
        'too_large',
        `The document holds too much text: ${error.message}.`,
        'BOTSTEAD_INDEXING_OUTPUT_BYTES',
        error,
      )
    case 'queue':
      return undefined
  }
}

/** @param setting the one that raises the limit */
function failure(
  kind: ExtractionError['failure'],
  cause: string,
  setting: string,
  error: Error,
): ExtractionError {
  const advice = `Split it into smaller files, simplify how it is built, or raise ${setting}.`
  return new ExtractionError(kind, `${cause} ${advice}`, { cause: error })
}

/**
 * The content of a file. A path is the cheapest. A stream, such as of a blob on another machine, is
 * written to a temporary file, so that no content is held in the memory of the server as a whole.
 */
export type Content = WorkerContent | { stream: Readable }

/**
 * Runs work with a content that a worker can open.
 *
 * @param maxBytes size above which a stream is aborted
 * @throws ExtractionError if the stream is longer
 */
async function withWorkerContent<T>(
  content: Content,
  options: { maxBytes: number; signal: AbortSignal | undefined },
  work: (content: WorkerContent) => Promise<T>,
): Promise<T> {
  if (!('stream' in content)) return await work(content)
  let folder: string | undefined
  try {
    folder = await mkdtemp(join(tmpdir(), 'botstead-index-'))
    const path = join(folder, 'content')
    const { signal } = options
    const bounded = (source: AsyncIterable<unknown>) => bound(source, options.maxBytes)
    await pipeline(content.stream, bounded, createWriteStream(path), { signal })
    return await work({ path })
  } finally {
    content.stream.destroy()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

async function* bound(source: AsyncIterable<unknown>, maxBytes: number) {
  let size = 0
  for await (const chunk of source) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('A content is made of bytes')
    size += chunk.byteLength
    if (size > maxBytes) {
      throw new ExtractionError(
        'too_large',
        `The file has more than ${maxBytes.toLocaleString('en')} bytes, the maximum. Split it into several files, ` +
          'or raise BOTSTEAD_MAX_INDEXED_FILE_BYTES.',
      )
    }
    yield chunk
  }
}

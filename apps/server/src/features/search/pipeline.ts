import { availableParallelism } from 'node:os'
import { WorkerLimitError } from '../../platform/workers/worker-errors.js'
import {
  createWorkerPool,
  type WorkerPool,
  type WorkerPoolOptions,
} from '../../platform/workers/worker-pool.js'
import type { ContextOptions } from './chunk/index-fields.js'
import {
  type ChunkOptions,
  DEFAULT_CHUNK_OPTIONS,
  SMALLEST_MAXIMUM_LENGTH,
} from './chunk/passage.js'
import { ExtractionError } from './extract/extraction-error.js'
import type { Content, IngestInput, Ingestion, IngestOutput } from './ingest-task.js'

const MEGABYTE = 1024 * 1024
/** Files above this are not indexed. */
const MAXIMUM_BYTES = 95 * MEGABYTE
/** A passage is shown and prompted as a whole; no wish makes it longer than this. */
const LARGEST_MAXIMUM_LENGTH = 20_000

/** Processes that turn files into passages. */
export type IngestPool = WorkerPool<IngestInput, IngestOutput>

/** The part of `indexing.configuration` that needs no language model; other members are ignored. */
interface IngestConfiguration {
  parsing?: {
    /** UTF-16 units; shorter stand-alone paragraphs are merged into the following one. */
    minimumParagraphLength?: number
  }
  chunking?: ContextOptions & {
    /** UTF-16 units that no passage exceeds; from 64, at most 20,000. */
    maximumChunkLength?: number
  }
}

/** A file to be made searchable. */
export interface IngestRequest {
  content: Content
  contentType: string
  key: string
  configuration?: IngestConfiguration
  /** More passages than this are refused; 5,000 by default. */
  maximumPassages?: number
  /** Larger files are refused, in bytes; 95 MB by default. */
  maximumBytes?: number
}

/** Limits of the pool where they shall differ from the defaults. */
export type IngestPoolOptions = Partial<Omit<WorkerPoolOptions, 'entry'>> &
  Pick<WorkerPoolOptions, 'onError'>

/** Starts the pool; it has no process until there is a file. */
export function createIngestPool(options: IngestPoolOptions): IngestPool {
  return createWorkerPool<IngestInput, IngestOutput>({
    // One processor stays free for requests.
    workers: Math.max(1, availableParallelism() - 1),
    maximumQueue: 100,
    timeLimitMs: 60_000,
    memoryLimitMb: 512,
    maximumOutputBytes: 64 * MEGABYTE,
    idleTimeoutMs: 30_000,
    ...options,
    entry: new URL('./ingest-worker.js', import.meta.url),
  })
}

/**
 * Extracts and chunks one file in a worker.
 *
 * @throws ExtractionError if the file cannot be indexed, with a reason for its author
 * @throws WorkerLimitError with limit `queue` if the pool is too busy to take it now
 * @throws WorkerExitError if the worker ended for a reason that is not the file's
 */
export async function ingest(
  pool: IngestPool,
  request: IngestRequest,
  signal?: AbortSignal,
): Promise<Ingestion> {
  const input: IngestInput = {
    content: request.content,
    contentType: request.contentType,
    key: request.key,
    maximumBytes: request.maximumBytes ?? MAXIMUM_BYTES,
    chunking: toChunkOptions(request),
    context: request.configuration?.chunking ?? {},
  }
  const output = await pool.run(input, signal && { signal }).catch((error: unknown) => {
    throw toExtractionError(error) ?? error
  })
  if ('failure' in output) throw new ExtractionError(output.failure, output.message)
  return output
}

function toChunkOptions(request: IngestRequest): ChunkOptions {
  const { parsing, chunking } = request.configuration ?? {}
  const wanted = chunking?.maximumChunkLength ?? DEFAULT_CHUNK_OPTIONS.maximumLength
  const maximumLength = Math.min(Math.max(wanted, SMALLEST_MAXIMUM_LENGTH), LARGEST_MAXIMUM_LENGTH)
  return {
    maximumLength: Math.trunc(maximumLength),
    minimumParagraphLength:
      parsing?.minimumParagraphLength ?? DEFAULT_CHUNK_OPTIONS.minimumParagraphLength,
    maximumPassages: request.maximumPassages ?? DEFAULT_CHUNK_OPTIONS.maximumPassages,
  }
}

function toExtractionError(error: unknown): ExtractionError | undefined {
  if (!(error instanceof WorkerLimitError)) return undefined
  switch (error.limit) {
    case 'time':
      return failure('too_slow', `Reading the document was given up: ${error.message}.`, error)
    case 'memory':
      return failure('too_much_memory', `Reading the document failed: ${error.message}.`, error)
    case 'output':
      return failure('too_large', `The document holds too much text: ${error.message}.`, error)
    case 'queue':
      return undefined
  }
}

function failure(kind: ExtractionError['failure'], cause: string, error: Error): ExtractionError {
  const advice = 'Split it into smaller files, or simplify how it is built.'
  return new ExtractionError(kind, `${cause} ${advice}`, { cause: error })
}

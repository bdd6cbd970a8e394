import { ApiError } from '@botstead/contract'
import type { Database } from '../../../platform/db/open.js'
import { createGate, type Load } from '../../../platform/workers/gate.js'
import { createThreadPool } from '../../../platform/workers/thread-pool.js'
import { WorkerLimitError } from '../../../platform/workers/worker-errors.js'
import { type Findings, type FindRequest, find } from './find.js'
import type { FindSetup } from './find-task.js'
import type { Weights } from './fusion.js'
import { createRanker } from './ranker.js'

/** Reads the database for searches, where they keep nobody else waiting. */
export interface Finder extends AsyncDisposable {
  /**
   * @throws ApiError `RateLimited` when too many searches wait, `OperationTimeout` when one takes too
   *   long, waiting included
   */
  find(request: FindRequest, signal?: AbortSignal): Promise<Findings>
  /** Searches that run and wait now. */
  load(): Load
}

export interface FinderOptions {
  /** Where the passages are. */
  database: Pick<Database, 'dialect' | 'file' | 'url'>
  /** Searches that run at a time. */
  atOnce: number
  /** Milliseconds that a search may take, waiting included. */
  timeLimitMs: number
  /** Told about threads and connections that fail. */
  onError(error: Error): void
  /** How much each leg weighs; those of every search by default. */
  weights?: Weights
  /** Module that the threads run: for tests. */
  entry?: URL
}

/** Searches that wait; with more, waiting would only end in a timeout. */
const maximumQueue = 200
const memoryLimitMb = 512

/** Searches run on threads of their own on SQLite, on connections of their own on PostgreSQL. */
export function createFinder(options: FinderOptions): Finder {
  const { file } = options.database
  return file === undefined ? createConnectionFinder(options) : createThreadFinder(options, file)
}

function createThreadFinder(options: FinderOptions, file: string): Finder {
  const setup: FindSetup = { file, ...(options.weights && { weights: options.weights }) }
  const pool = createThreadPool<FindRequest, Findings>({
    entry: options.entry ?? new URL('./find-worker.js', import.meta.url),
    setup,
    threads: options.atOnce,
    maximumQueue,
    timeLimitMs: options.timeLimitMs,
    memoryLimitMb,
    onError: options.onError,
  })
  return {
    async find(request, signal) {
      try {
        return await pool.run(request, signal)
      } catch (error) {
        throw toApiError(error, options.timeLimitMs, signal)
      }
    },
    load: pool.load,
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

function createConnectionFinder(options: FinderOptions): Finder {
  const { dialect, url } = options.database
  const { atOnce, timeLimitMs } = options
  const ranker = createRanker({ dialect, ...(options.weights && { weights: options.weights }) })
  const gate = createGate(atOnce, maximumQueue, () => new WorkerLimitError('queue', 'Too many'))
  let opening: Promise<Database> | undefined

  async function open(): Promise<Database> {
    if (url === undefined) throw new Error('A database has a file or an address')
    const { openPostgres } = await import('../../../platform/db/postgres-driver.js')
    return await openPostgres({ url, poolSize: atOnce, statementTimeout: timeLimitMs })
  }

  /** One pool for all; what could not be opened is tried again by the next search. */
  function connect(): Promise<Database> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    async find(request, signal) {
      const late = AbortSignal.timeout(timeLimitMs)
      const patience = signal === undefined ? late : AbortSignal.any([late, signal])
      try {
        const leave = await gate.enter(patience)
        try {
          const { db } = await connect()
          return await find(db, ranker, request)
        } finally {
          leave()
        }
      } catch (error) {
        throw toApiError(error, timeLimitMs, signal)
      }
    },
    load: gate.load,
    async [Symbol.asyncDispose]() {
      gate.close(new Error('Search is closed'))
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** `query_canceled`: PostgreSQL ended a statement that took too long. */
const statementTimeout = '57014'

function toApiError(error: unknown, timeLimitMs: number, signal?: AbortSignal): unknown {
  if (signal?.aborted) {
    return new ApiError('OperationTimeout', 'The caller went away.', { cause: error })
  }
  if (error instanceof WorkerLimitError && error.limit === 'queue') {
    return new ApiError('RateLimited', 'Too many searches at once: try again in a second.', {
      cause: error,
      metadata: { retryAfterSeconds: 1 },
    })
  }
  if (isTimeout(error)) {
    return new ApiError(
      'OperationTimeout',
      `The search took longer than ${timeLimitMs} ms: ask for less, or try again later.`,
      { cause: error },
    )
  }
  return error
}

function isTimeout(error: unknown): boolean {
  if (error instanceof WorkerLimitError) return error.limit === 'time'
  if (!(error instanceof Error)) return false
  return error.name === 'TimeoutError' || ('code' in error && error.code === statementTimeout)
}

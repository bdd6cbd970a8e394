import { ApiError } from '@botstead/contract'
import type { RetrieverWeights } from '../../../domain/retriever-weights.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import { type Database, type DatabaseReads, openReads } from '../../../platform/db/open.js'
import type { Db } from '../../../platform/db/schema.js'
import { groupBy } from '../../../platform/group-by.js'
import { createGate, type Load, WorkerLimitError } from '../../../platform/workers/gate.js'
import { createThreadPool } from '../../../platform/workers/thread-pool.js'
import type { FileRow } from '../../files/index.js'
import type { PassageRow } from '../passage-store.js'
import type { Explanation } from './explanation/index.js'
import {
  type ExplainedFindings,
  type ExplainRequest,
  type Findings,
  type FindRequest,
  type FindSetup,
  find,
  findAndExplain,
} from './find.js'
import { createRanker } from './ranker.js'
import type { RankedPassage } from './score.js'

/** Reads the database for searches without blocking other requests. */
export interface Finder extends AsyncDisposable {
  /**
   * Finds passages, best first.
   *
   * @throws ApiError `RateLimited` when too many searches wait, `OperationTimeout` when one takes too
   *   long, waiting included
   */
  find(request: FindRequest, signal?: AbortSignal): Promise<FindResult>
  /** As `find`, with the reasons. */
  explain(
    request: ExplainRequest,
    signal?: AbortSignal,
  ): Promise<FindResult & { explanation: Explanation }>
  /** The number of running and waiting searches. */
  load(): Load
}

interface FindResult {
  found: FoundPassage[]
  /** Short names of retrievers that were not available. */
  degraded: readonly string[]
}

/** A match with its neighbours, or several matches of one file. */
export interface FoundPassage {
  /** Of the best match. */
  score: number
  /** The evidence of each retriever for the best match. */
  explanation: RankedPassage['explanation']
  file: FileRow
  /** In reading order; a single one unless matches of a file were consolidated. */
  matches: PassageRow[]
  /** The matches and their neighbours in reading order, without duplicates. */
  around: PassageRow[]
}

export interface FinderOptions {
  /** The database that contains the passages. */
  database: Pick<Database, 'dialect' | 'file' | 'url' | 'durable'>
  /** Concurrent searches. */
  atOnce: number
  /** Milliseconds that a search may take, waiting included. */
  timeLimitMs: number
  /** Called with the errors of threads and connections that fail. */
  onError(error: Error): void
  /** Weights of the retrievers; the default weights if undefined. */
  weights?: RetrieverWeights
  /** Module that the threads run: for tests. */
  entry?: URL
}

/** Maximum number of waiting searches; with more, waiting would only end in a timeout. */
const maxQueue = 200
const memoryLimitMb = 512

/** Searches run on threads on SQLite, and on separate connections on PostgreSQL. */
export function createFinder(options: FinderOptions): Finder {
  const { file } = options.database
  return file === undefined ? createConnectionFinder(options) : createThreadFinder(options, file)
}

function createThreadFinder(options: FinderOptions, file: string): Finder {
  const setup: FindSetup = { file, ...(options.weights && { weights: options.weights }) }
  // A search without explanation has findings without one.
  const pool = createThreadPool<FindRequest | ExplainRequest, Findings | ExplainedFindings>({
    entry: options.entry ?? new URL('./find-worker.js', import.meta.url),
    setup,
    threads: options.atOnce,
    maxQueue,
    timeLimitMs: options.timeLimitMs,
    memoryLimitMb,
    onError: options.onError,
  })

  async function run(request: FindRequest | ExplainRequest, signal: AbortSignal | undefined) {
    try {
      const found = await pool.run(request, signal)
      await options.database.durable()
      return found
    } catch (error) {
      throw toApiError(error, options, signal)
    }
  }

  return {
    find: async (request, signal) => toResult(await run(request, signal)),
    explain: async (request, signal) => toExplained(await run(request, signal)),
    load: pool.load,
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

function createConnectionFinder(options: FinderOptions): Finder {
  const { dialect, url } = options.database
  const { atOnce, timeLimitMs } = options
  const ranker = createRanker({ dialect, ...(options.weights && { weights: options.weights }) })
  const gate = createGate(atOnce, maxQueue, () => new WorkerLimitError('queue', 'Too many'))
  let opening: Promise<DatabaseReads> | undefined

  /** One pool for all searches, opened by the first. */
  function open(): Promise<DatabaseReads> {
    opening ??= openReads({ ...(url && { url }), poolSize: atOnce, statementTimeout: timeLimitMs })
    return opening
  }

  async function run<Found>(
    search: (db: Db) => Promise<Found>,
    signal: AbortSignal | undefined,
  ): Promise<Found> {
    const late = AbortSignal.timeout(timeLimitMs)
    const patience = signal === undefined ? late : AbortSignal.any([late, signal])
    try {
      const leave = await gate.enter(patience)
      try {
        const reads = await open()
        return await reads.snapshot(search)
      } finally {
        leave()
      }
    } catch (error) {
      throw toApiError(error, options, signal)
    }
  }

  return {
    find: async (request, signal) => toResult(await run((db) => find(db, ranker, request), signal)),
    explain: async (request, signal) =>
      toExplained(await run((db) => findAndExplain(db, ranker, request), signal)),
    load: gate.load,
    async [Symbol.asyncDispose]() {
      gate.close(new Error('Search is closed'))
      await (await opening)?.close()
    },
  }
}

function toApiError(
  error: unknown,
  { database, timeLimitMs }: FinderOptions,
  signal?: AbortSignal,
): unknown {
  if (signal?.aborted) {
    return new ApiError('OperationTimeout', 'The caller went away.', { cause: error })
  }
  if (error instanceof WorkerLimitError && error.limit === 'queue') {
    return new ApiError('RateLimited', 'Too many searches at once: try again in a second.', {
      cause: error,
      metadata: { retryAfterSeconds: 1 },
    })
  }
  if (isTimeout(error, database.dialect)) {
    return new ApiError(
      'OperationTimeout',
      `The search took longer than ${timeLimitMs} ms: ask for less, or try again later.`,
      { cause: error },
    )
  }
  return error
}

function isTimeout(error: unknown, dialect: Dialect): boolean {
  if (error instanceof WorkerLimitError) return error.limit === 'time'
  if (error instanceof Error && error.name === 'TimeoutError') return true
  return dialect.isStatementTimeout(error)
}

/** Combines each match with its file and its neighbours. */
function toResult({ hits, nearby, files, degraded }: Findings): FindResult {
  const around = groupBy(nearby, ({ hit }) => hit)
  const fileById = new Map(files.map((file) => [file.id, file]))
  const found = hits.flatMap(({ number, score, explanation }): FoundPassage[] => {
    const passages = around.get(number) ?? []
    const match = passages.find((row) => row.number === number)
    const file = fileById.get(match?.file_id ?? '')
    // Ranking and reading use one snapshot, so both exist: this is for the types.
    if (match === undefined || file === undefined) return []
    return [{ score, explanation, file, matches: [match], around: passages }]
  })
  return { found, degraded }
}

function toExplained(findings: Findings | ExplainedFindings) {
  if (!('explanation' in findings)) throw new Error('An explained search has an explanation')
  return { ...toResult(findings), explanation: findings.explanation }
}

/** Consolidates the matches of each file, in reading order; files stay sorted by their best match. */
export function joinByFile(found: readonly FoundPassage[]): FoundPassage[] {
  const files = new Map<string, FoundPassage>()
  for (const each of found) {
    const known = files.get(each.file.id)
    if (known === undefined) {
      files.set(each.file.id, each)
      continue
    }
    files.set(each.file.id, {
      ...known,
      matches: inReadingOrder([...known.matches, ...each.matches]),
      around: inReadingOrder([...known.around, ...each.around]),
    })
  }
  return [...files.values()]
}

function inReadingOrder(passages: readonly PassageRow[]): PassageRow[] {
  const byNumber = new Map(passages.map((passage) => [passage.number, passage]))
  return [...byNumber.values()].sort((a, b) => a.position - b.position)
}

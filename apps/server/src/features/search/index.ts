import type { RetrieverWeights } from '../../domain/retriever-weights.js'
import type { Clock } from '../../platform/clock.js'
import type { Database } from '../../platform/db/open.js'
import type { Pager } from '../../platform/db/pager.js'
import { purge } from '../../platform/db/purge.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { Load } from '../../platform/workers/gate.js'
import type { FeatureWith } from '../feature.js'
import type { Files } from '../files/index.js'
import { createIndexingJobs, createIngestPool, type IngestPoolOptions } from './indexing/index.js'
import { createKeywordIndex } from './keywords/index.js'
import { createSearchMeter, loadMetric } from './metrics.js'
import { deleteOfBot, passagesDeletedAtOnce } from './passage-store.js'
import { createFinder } from './retrieval/index.js'
import { searchRoutes } from './routes.js'
import { createSearchService, type SearchService } from './service.js'
import { createVectors, type EmbeddingsSettings } from './vectors/index.js'
import { deleteWordsOfBot } from './vocabulary-store.js'

export type { RetrieverWeights } from '../../domain/retriever-weights.js'
export {
  type AnchoredPassage,
  listAtPositions,
  listFromPosition,
  type PassagePosition,
} from './passage-anchor-store.js'
export { listOfFile } from './passage-store.js'
export type { FoundPassage } from './retrieval/index.js'
export { openPostgresVectors } from './vectors/index.js'

/** The slice of search, as others see it. */
export type Search = FeatureWith<'routes' | 'jobs' | 'open' | 'schedule' | 'purge' | 'stop'> & {
  service: SearchService
  /** The number of running and waiting searches. */
  load(): Load
}

export interface SearchOptions {
  database: Database
  clock: Clock
  ids: Ids
  queue: Queue
  pager: Pager
  log: Log
  files: Files
  /** Limits of the processes that read documents, where they differ from the defaults. */
  documentReaders?: Omit<IngestPoolOptions, 'onError'>
  /** The embeddings endpoint to use; undefined for the built-in vectors. */
  embeddings?: EmbeddingsSettings | undefined
  limits: {
    passagesPerFile: number
    indexedFileBytes: number
    /** Concurrent searches. */
    searchesAtOnce: number
    /** Milliseconds that a search may take. */
    searchTimeoutMs: number
  }
  /** Milliseconds between two reports of progress. */
  progressPauseMs?: number | undefined
  /** Module that the search threads run: for tests. */
  findEntry?: URL
  /** Weights of the retrievers: for measuring the contribution of each. */
  weights?: RetrieverWeights
}

/** Search in the files of bots: their passages and the indexes of them. */
export function createSearch(options: SearchOptions): Search {
  const { database, clock, ids, queue, pager, log, files, limits } = options
  const { db, run } = database
  const index = createKeywordIndex(database.dialect)
  const meter = createSearchMeter()
  const ingestPool = createIngestPool({
    ...options.documentReaders,
    onError: (err) => log.error({ err }, 'a process that reads documents failed'),
  })
  const finder = createFinder({
    database,
    atOnce: limits.searchesAtOnce,
    timeLimitMs: limits.searchTimeoutMs,
    onError: (err) => log.error({ err }, 'a search thread failed'),
    ...(options.findEntry && { entry: options.findEntry }),
    ...(options.weights && { weights: options.weights }),
  })
  const vectors = createVectors({ database, clock, queue, log, embeddings: options.embeddings })
  const service = createSearchService({
    db,
    clock,
    pager,
    files,
    finder,
    questions: vectors.questions,
    meter,
    limits,
  })
  const jobs = createIndexingJobs({
    db,
    run,
    clock,
    ids,
    queue,
    log,
    index,
    vectors,
    ingestPool,
    indexing: files.indexing,
    meter,
    limits,
    progressPauseMs: options.progressPauseMs,
  })

  return {
    name: 'search',
    service,
    load: finder.load,
    routes: searchRoutes({ service, toFile: files.toFile }),
    jobs: { ...jobs, ...vectors.jobs },
    metrics: [
      ...meter.all,
      loadMetric('botstead_searches', 'Searches of this process.', finder.load),
      loadMetric(
        'botstead_document_readers',
        'Files that processes of this one read, and files that wait for such a process.',
        ingestPool.load,
      ),
    ],
    checks: [{ name: 'vectors', check: vectors.missing }],
    schedule: vectors.schedule,
    open: vectors.open,

    async purge(botId) {
      await purge(run, (tx, limit) => deleteOfBot(tx, botId, limit), passagesDeletedAtOnce)
      await purge(run, (tx, limit) => deleteWordsOfBot(tx, botId, limit))
      await vectors.purge(botId)
    },

    async stop() {
      await ingestPool[Symbol.asyncDispose]()
      await finder[Symbol.asyncDispose]()
      await vectors[Symbol.asyncDispose]()
    },
  }
}

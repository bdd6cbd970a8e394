import type { Route } from '../../http/mount.js'
import type { Database } from '../../platform/db/open.js'
import type { Pager } from '../../platform/db/pager.js'
import { purge } from '../../platform/db/purge.js'
import type { Tx } from '../../platform/db/schema.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { Metric } from '../../platform/telemetry/metric.js'
import { createSearchJobs } from './indexing/jobs.js'
import { createKeywordIndex } from './keywords/keyword-index.js'
import { createSearchMeter, loadMetric } from './metrics.js'
import { createPassagesService } from './passages.js'
import { createFinder } from './retrieval/finder.js'
import type { Weights } from './retrieval/fusion.js'
import { searchRoutes } from './routes.js'
import { createSearchService, type SearchDeps, type SearchService } from './service.js'
import { deleteOfBot, passagesDeletedAtOnce } from './store.js'
import { createVectors, type EmbeddingsSettings } from './vectors/index.js'
import { deleteWordsOfBot } from './vocabulary-store.js'

export { createIngestPool } from './indexing/pipeline.js'
export type { Weights } from './retrieval/fusion.js'

export interface Search extends AsyncDisposable {
  service: SearchService
  routes: Route[]
  metrics: readonly Metric[]
  /** What the job runner does, by kind. */
  jobs: Record<string, JobHandler>
  /** Deletes the passages of a bot that is gone. */
  purge(botId: string): Promise<void>
  /** Makes the database ready; to be awaited before the first search. */
  open(): Promise<void>
  /** Asks for the work that a start begins with. */
  schedule(tx: Tx): Promise<void>
  /** Why search cannot do all it could, as a sentence; undefined if it can. */
  missing(): Promise<string | undefined>
}

export type SearchOptions = Omit<
  SearchDeps,
  'db' | 'run' | 'index' | 'vectors' | 'questions' | 'finder' | 'meter' | 'limits'
> & {
  database: Database
  /** Whose vectors to use; undefined for those that are built in. */
  embeddings?: EmbeddingsSettings | undefined
  pager: Pager
  limits: SearchDeps['limits'] & {
    /** Searches that run at a time. */
    searchesAtOnce: number
    /** Milliseconds that a search may take. */
    searchTimeoutMs: number
  }
  /** Module that the search threads run: for tests. */
  findEntry?: URL
  /** How much each leg of ranking weighs: for measuring what each adds. */
  weights?: Weights
}

/** Search in the files of bots: their passages and the index over them. */
export function createSearch({
  database,
  log,
  findEntry,
  weights,
  ...given
}: SearchOptions): Search {
  const { db, run } = database
  const index = createKeywordIndex(database.dialect)
  const finder = createFinder({
    database,
    atOnce: given.limits.searchesAtOnce,
    timeLimitMs: given.limits.searchTimeoutMs,
    onError: (err) => log.error({ err }, 'a search thread failed'),
    ...(findEntry && { entry: findEntry }),
    ...(weights && { weights }),
  })
  const vectors = createVectors({ ...given, database, log })
  const meter = createSearchMeter()
  const deps = {
    ...given,
    db,
    run,
    log,
    index,
    vectors,
    questions: vectors.questions,
    finder,
    meter,
  }
  const service = createSearchService(deps)
  return {
    service,
    routes: searchRoutes({
      service,
      passages: createPassagesService(deps),
      toFile: deps.files.toFile,
    }),
    metrics: [
      ...meter.all,
      loadMetric('botstead_searches', 'Searches of this process.', finder.load),
      loadMetric(
        'botstead_document_readers',
        'Files that processes of this one read, and files that wait for such a process.',
        given.ingestPool.load,
      ),
    ],
    jobs: { ...createSearchJobs({ ...deps, indexing: deps.files.indexing }), ...vectors.jobs },
    async purge(botId) {
      await purge(run, (tx, limit) => deleteOfBot(tx, botId, limit), passagesDeletedAtOnce)
      await purge(run, (tx, limit) => deleteWordsOfBot(tx, botId, limit))
      await vectors.purge(botId)
    },
    open: vectors.open,
    schedule: vectors.schedule,
    missing: vectors.missing,
    async [Symbol.asyncDispose]() {
      await finder[Symbol.asyncDispose]()
      await vectors[Symbol.asyncDispose]()
    },
  }
}

import type { Route } from '../../http/mount.js'
import type { Dialect } from '../../platform/db/dialect.js'
import { purge } from '../../platform/db/purge.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import { createSearchJobs } from './jobs.js'
import { createKeywordIndex } from './keyword-index.js'
import { createRankingBackground } from './rank/background.js'
import { createRanker } from './rank/ranker.js'
import { searchRoutes } from './routes.js'
import { createSearchService, type SearchDeps, type SearchService } from './service.js'
import { deleteOfBot } from './store.js'

export { createIngestPool } from './pipeline.js'

export interface Search {
  service: SearchService
  routes: Route[]
  /** What the job runner does, by kind. */
  jobs: Record<string, JobHandler>
  /** Deletes the passages of a bot that is gone. */
  purge(botId: string): Promise<void>
}

/** Search in the files of bots: their passages and the index over them. */
export function createSearch(
  given: Omit<SearchDeps, 'index' | 'ranker' | 'vectors'> & { dialect: Dialect },
): Search {
  const { vectors, ...ranking } = createRankingBackground()
  const deps = {
    ...given,
    index: createKeywordIndex(given.dialect),
    vectors,
    ranker: createRanker(given),
  }
  const service = createSearchService(deps)
  return {
    service,
    routes: searchRoutes(service),
    jobs: { ...createSearchJobs({ ...deps, indexing: deps.files.indexing }), ...ranking.jobs },
    async purge(botId) {
      await purge(deps.run, (tx, limit) => deleteOfBot(tx, botId, limit))
      await ranking.purge(botId)
    },
  }
}

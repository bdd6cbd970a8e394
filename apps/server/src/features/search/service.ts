import { ApiError, type contract, type Query, searchLimitDefault } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Db, Run } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Log } from '../../platform/telemetry/log.js'
import { type Files, scopeOf, toTagConditions } from '../files/index.js'
import type { IngestPool } from './indexing/pipeline.js'
import type { KeywordIndex } from './keywords/keyword-index.js'
import type { SearchMeter } from './metrics.js'
import type { Finder } from './retrieval/finder.js'
import { byFile, type Found, toFound } from './retrieval/found.js'
import type { QuestionVectors, VectorJobs } from './vectors/index.js'

type SearchQuery = Query<typeof contract.search.files>

export interface SearchDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  queue: Queue
  files: Files
  index: KeywordIndex
  vectors: Pick<VectorJobs, 'add'>
  questions: QuestionVectors
  finder: Finder
  meter: SearchMeter
  ingestPool: IngestPool
  log: Log
  limits: {
    passagesPerFile: number
    indexedFileBytes: number
  }
}

export type SearchService = ReturnType<typeof createSearchService>

export function createSearchService(
  deps: Pick<SearchDeps, 'clock' | 'finder' | 'questions' | 'meter'>,
) {
  const { clock, finder, questions, meter } = deps

  async function findPassages(
    actor: BotActor,
    input: SearchQuery,
    signal: AbortSignal | undefined,
  ): Promise<{ found: Found[]; degraded: readonly string[] }> {
    if (input.query.trim() === '') {
      throw new ApiError('InvalidQuery', 'query.query must have more than white space.', {
        metadata: { in: 'query', field: 'query' },
      })
    }
    const queryVector = await questions.of(actor.botId, input.query, signal)
    const request = {
      query: input.query,
      ...(queryVector && { queryVector }),
      scope: scopeOf(actor, isoTime(clock.now())),
      tags: toTagConditions(input.tags),
      limit: input.limit ?? searchLimitDefault,
      depth: input.contextDepth ?? 1,
      ...(input.minScore !== undefined && { minScore: input.minScore }),
    }
    const findings = await finder.find(request, signal)
    const found = toFound(findings)
    return { found: input.consolidate ? byFile(found) : found, degraded: findings.degraded }
  }

  return {
    /** Finds passages, best first: one per match, or one per file with `consolidate`. */
    search: (actor: BotActor, input: SearchQuery, signal?: AbortSignal) =>
      meter.measure(() => findPassages(actor, input, signal), signal),
  }
}

import { ApiError, type contract, type Query, searchLimitDefault } from '@botstead/contract'
import type { BotActor } from '../../platform/actor.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Db, Run } from '../../schema.js'
import { type FileRow, type Files, scopeOf, toTagConditions } from '../files/index.js'
import { byFile, type Found } from './found.js'
import type { KeywordIndex } from './keyword-index.js'
import type { IngestPool } from './pipeline.js'
import type { Ranker } from './rank/ranker.js'
import { listNearby, type NearbyRow, type PassageRow } from './store.js'
import type { VectorIndex } from './vectors/vector-index.js'

type SearchQuery = Query<typeof contract.search.files>

export interface SearchDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  queue: Queue
  files: Files
  index: KeywordIndex
  vectors: VectorIndex
  ranker: Ranker
  ingestPool: IngestPool
  limits: {
    passagesPerFile: number
    indexedFileBytes: number
  }
}

export type SearchService = ReturnType<typeof createSearchService>

const maxQueryBytes = 2048

export function createSearchService(deps: Pick<SearchDeps, 'db' | 'clock' | 'ranker' | 'files'>) {
  const { db, clock, ranker, files } = deps

  return {
    /** Finds passages, best first: one per match, or one per file with `consolidate`. */
    async search(actor: BotActor, input: SearchQuery): Promise<Found[]> {
      if (Buffer.byteLength(input.query) > maxQueryBytes) {
        throw new ApiError(
          'InvalidQuery',
          `query.query must have at most ${maxQueryBytes} bytes of UTF-8.`,
          { metadata: { in: 'query', field: 'query' } },
        )
      }
      const { passages: hits } = await ranker.rank(db, {
        query: input.query,
        scope: scopeOf(actor, isoTime(clock.now())),
        tags: toTagConditions(input.tags),
        limit: input.limit ?? searchLimitDefault,
      })
      const rows = await listNearby(
        db,
        hits.map(({ number }) => number),
        input.contextDepth ?? 1,
      )
      const nearby = groupByHit(rows)
      const fileIds = [...new Set(rows.map(({ file_id }) => file_id))]
      const fileRows = await files.service.listByIds(actor.botId, fileIds)
      const fileById = new Map(fileRows.map((file) => [file.id, file]))
      const found = hits.flatMap(({ number, score }) => {
        const around: PassageRow[] = nearby.get(number) ?? []
        const passage = around.find((row) => row.number === number)
        const file: FileRow | undefined = fileById.get(passage?.file_id ?? '')
        // A file can be deleted between the queries.
        if (passage === undefined || file === undefined) return []
        return [{ score, file, matches: [passage], around }]
      })
      return input.consolidate ? byFile(found) : found
    },
  }
}

function groupByHit(rows: readonly NearbyRow[]): Map<number, PassageRow[]> {
  const groups = new Map<number, PassageRow[]>()
  for (const row of rows) {
    const group = groups.get(row.hit)
    if (group === undefined) groups.set(row.hit, [row])
    else group.push(row)
  }
  return groups
}

import type { RetrieverWeights } from '../../../domain/retriever-weights.js'
import { sqliteDialect } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import { openSqliteReads } from '../../../platform/db/sqlite-reads.js'
import { type FileRow, listFilesByIds } from '../../files/lookup/index.js'
import { listNearby, type NearbyRow } from '../passage-store.js'
import { createRanker, type Ranker, type RankRequest } from './ranker.js'
import type { RankedPassage } from './score.js'

/** A search for the thread or the connection that reads the database: plain data, which can be cloned. */
export interface FindRequest extends RankRequest {
  /** Neighbours on each side of a match. */
  depth: number
}

/** What a search reads from the database. */
export interface Findings {
  /** Best first. */
  hits: RankedPassage[]
  /** The hits and their neighbours, in reading order. */
  nearby: NearbyRow[]
  /** The files that these are part of. */
  files: FileRow[]
  /** What could not be asked, as short names. */
  degraded: string[]
}

/** Everything of a search that reads the database. */
export async function find(db: Db, ranker: Ranker, request: FindRequest): Promise<Findings> {
  const { depth, ...rank } = request
  const { passages: hits, degraded } = await ranker.rank(db, rank)
  const numbers = hits.map(({ number }) => number)
  const { botId } = request.scope
  const nearby = await listNearby(db, botId, numbers, depth)
  const fileIds = [...new Set(nearby.map(({ file_id }) => file_id))]
  const files = await listFilesByIds(db, botId, fileIds)
  return { hits, nearby, files, degraded }
}

/** What a search thread is given when it starts. */
export interface FindSetup {
  /** Path of the SQLite file. */
  file: string
  /** How much each retriever weighs; the default weights if undefined. */
  weights?: RetrieverWeights
}

/** Opens the database for a search thread and returns the function that does one search. */
export async function openFind({
  file,
  weights,
}: FindSetup): Promise<(request: FindRequest) => Promise<Findings>> {
  const reads = await openSqliteReads(file)
  const ranker = createRanker({ dialect: sqliteDialect, ...(weights && { weights }) })
  return (request) => reads.snapshot((db) => find(db, ranker, request))
}

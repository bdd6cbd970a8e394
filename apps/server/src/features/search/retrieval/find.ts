import type { RetrieverWeights } from '../../../domain/retriever-weights.js'
import { sqliteDialect } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import { openSqliteReads } from '../../../platform/db/sqlite-driver.js'
import { type FileRow, listFilesByIds } from '../../files/lookup/index.js'
import { listNearby, type NearbyRow } from '../passage-store.js'
import { createRanker, type Ranker, type RankRequest } from './ranker.js'
import type { RankedPassage } from './score.js'

/** A search for the thread or the connection that reads the database: plain data, which can be cloned. */
export interface FindRequest extends RankRequest {
  /** Neighbours on each side of a match. */
  depth: number
}

/** The data that a search reads from the database. */
export interface Findings {
  /** Best first. */
  hits: RankedPassage[]
  /** The matches and their neighbours, in reading order. */
  nearby: NearbyRow[]
  /** The files of these passages. */
  files: FileRow[]
  /** Short names of retrievers that were not available. */
  degraded: string[]
}

/** Performs all database reads of a search. */
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

/** The setup of a search thread. */
export interface FindSetup {
  /** Path of the SQLite file. */
  file: string
  /** How much each retriever weighs; the default weights if undefined. */
  weights?: RetrieverWeights
}

/** Opens the database for a search thread and returns the function that performs a search. */
export async function openFind({
  file,
  weights,
}: FindSetup): Promise<(request: FindRequest) => Promise<Findings>> {
  const reads = await openSqliteReads(file)
  const ranker = createRanker({ dialect: sqliteDialect, ...(weights && { weights }) })
  return (request) => reads.snapshot((db) => find(db, ranker, request))
}

import type { Db } from '../../../platform/db/schema.js'
import { type FileRow, listFilesByIds } from '../../files/lookup/index.js'
import { listNearby, type NearbyRow } from '../store.js'
import type { RankedPassage, Ranker, RankRequest } from './ranker.js'

/** A search as it is handed to whoever reads the database for it: plain data, which can be cloned. */
export interface FindRequest extends RankRequest {
  /** Neighbours on each side of a match. */
  depth: number
}

export interface Findings {
  /** Best first. */
  hits: RankedPassage[]
  /** The hits and their neighbours, in reading order. */
  nearby: NearbyRow[]
  /** The files they stand in. */
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

import { sqliteDialect } from '../../platform/db/dialect.js'
import { openSqliteReads } from '../../platform/db/sqlite-reads.js'
import { type Findings, type FindRequest, find } from './find.js'
import { weightsOf } from './rank/fusion.js'
import { createRanker } from './rank/ranker.js'

/** What a search thread is given when it starts. */
export interface FindSetup {
  /** Path of the SQLite file. */
  file: string
  /** Legs that ranking asks, all by default. */
  legs?: readonly string[]
}

/** Opens the database for a search thread; answers what does one search. */
export async function openFind({
  file,
  legs,
}: FindSetup): Promise<(request: FindRequest) => Promise<Findings>> {
  const reads = await openSqliteReads(file)
  const ranker = createRanker({ dialect: sqliteDialect, weights: weightsOf(legs) })
  return (request) => reads.snapshot((db) => find(db, ranker, request))
}

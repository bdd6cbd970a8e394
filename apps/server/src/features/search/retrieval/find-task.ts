import { sqliteDialect } from '../../../platform/db/dialect.js'
import { openSqliteReads } from '../../../platform/db/sqlite-reads.js'
import { type Findings, type FindRequest, find } from './find.js'
import type { Weights } from './fusion.js'
import { createRanker } from './ranker.js'

/** What a search thread is given when it starts. */
export interface FindSetup {
  /** Path of the SQLite file. */
  file: string
  /** How much each leg weighs; those of every search by default. */
  weights?: Weights
}

/** Opens the database for a search thread; answers what does one search. */
export async function openFind({
  file,
  weights,
}: FindSetup): Promise<(request: FindRequest) => Promise<Findings>> {
  const reads = await openSqliteReads(file)
  const ranker = createRanker({ dialect: sqliteDialect, ...(weights && { weights }) })
  return (request) => reads.snapshot((db) => find(db, ranker, request))
}

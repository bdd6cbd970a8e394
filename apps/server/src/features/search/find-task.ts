import { sqliteDialect } from '../../platform/db/dialect.js'
import { openSqliteReads } from '../../platform/db/sqlite-reads.js'
import { type Findings, type FindRequest, find } from './find.js'
import { createRanker } from './rank/ranker.js'

/** What a search thread is given when it starts. */
export interface FindSetup {
  /** Path of the SQLite file. */
  file: string
}

/** Opens the database for a search thread; answers what does one search. */
export async function openFind({
  file,
}: FindSetup): Promise<(request: FindRequest) => Promise<Findings>> {
  const reads = await openSqliteReads(file)
  const ranker = createRanker({ dialect: sqliteDialect })
  return (request) => reads.snapshot((db) => find(db, ranker, request))
}

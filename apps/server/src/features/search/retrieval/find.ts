import type { RetrieverWeights } from '../../../domain/retriever-weights.js'
import { sqliteDialect } from '../../../platform/db/dialect.js'
import { openReads } from '../../../platform/db/open.js'
import type { Db } from '../../../platform/db/schema.js'
import { type FileRow, listFilesByIds } from '../../files/lookup/index.js'
import { listNearby, type NearbyRow } from '../passage-store.js'
import type { ExplainOptions, Explanation } from './explanation/index.js'
import { createRanker, type Ranker, type RankRequest } from './ranker.js'
import { type RankedPassage, score } from './score.js'

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

/** A search that is to be explained. */
export interface ExplainRequest extends FindRequest {
  explain: ExplainOptions
}

/** The findings of a search, and why it has found them. */
export interface ExplainedFindings extends Findings {
  explanation: Explanation
}

/** Performs all database reads of a search. */
export async function find(db: Db, ranker: Ranker, request: FindRequest): Promise<Findings> {
  const { depth, ...rank } = request
  const { passages: hits, degraded } = await ranker.rank(db, rank)
  return { ...(await readAround(db, request, hits)), degraded }
}

/** Performs a search as {@link find} does, and explains it. */
export async function findAndExplain(
  db: Db,
  ranker: Ranker,
  request: ExplainRequest,
): Promise<ExplainedFindings> {
  // Searches do without this code, and a thread without it starts sooner.
  const { explainFindings } = await import('./explanation/index.js')
  const { depth, explain, ...rank } = request
  const examination = await ranker.examine(db, rank)
  const { candidates, scoring, degraded } = examination
  const findings = {
    ...(await readAround(db, request, score([...candidates.values()], scoring))),
    degraded: degraded === undefined ? [] : [degraded],
  }
  const explanation = await explainFindings(
    db,
    ranker,
    { ...rank, ...explain },
    examination,
    findings,
  )
  return { ...findings, explanation }
}

async function readAround(
  db: Db,
  { scope: { botId }, depth }: FindRequest,
  hits: RankedPassage[],
): Promise<Omit<Findings, 'degraded'>> {
  const numbers = hits.map(({ number }) => number)
  const nearby = await listNearby(db, botId, numbers, depth)
  const fileIds = [...new Set(nearby.map(({ file_id }) => file_id))]
  const files = await listFilesByIds(db, botId, fileIds)
  return { hits, nearby, files }
}

/** The setup of a search thread. */
export interface FindSetup {
  /** Path of the SQLite file. */
  file: string
  /** Weights of the retrievers; the default weights if undefined. */
  weights?: RetrieverWeights
}

/** Performs a search, or explains one. */
export interface Find {
  (request: FindRequest): Promise<Findings>
  (request: FindRequest | ExplainRequest): Promise<Findings | ExplainedFindings>
}

/** Opens the database for a search thread and returns the function that performs a search. */
export async function openFind({ file, weights }: FindSetup): Promise<Find> {
  const reads = await openReads({ file })
  const ranker = createRanker({ dialect: sqliteDialect, ...(weights && { weights }) })
  return (request: FindRequest | ExplainRequest) =>
    reads.snapshot((db) =>
      'explain' in request ? findAndExplain(db, ranker, request) : find(db, ranker, request),
    )
}

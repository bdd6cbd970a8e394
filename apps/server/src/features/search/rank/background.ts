import type { Clock } from '../../../platform/clock.js'
import type { Database } from '../../../platform/db/open.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Log } from '../../../platform/log.js'
import { createLsaEmbedder } from '../lsa/lsa-embedder.js'
import type { DatabasePlace } from '../lsa/lsa-task.js'
import { vectorStoreOf } from '../vectors/engine-vectors.js'
import { openPostgresVectors } from '../vectors/open-postgres-vectors.js'
import { createVectorJobs, type VectorJobs } from '../vectors/vector-jobs.js'

/** What ranking needs besides questions. */
export interface RankingBackground extends AsyncDisposable {
  /** To be told of passages that are written. */
  vectors: VectorJobs
  /** Makes the database ready for vectors; says in the log if it cannot hold any. */
  open(): Promise<void>
  /** Why meaning is not searched, as a sentence; undefined if it is. */
  missing(): Promise<string | undefined>
}

export interface RankingBackgroundDeps {
  database: Database
  clock: Clock
  queue: Queue
  log: Log
}

export function createRankingBackground(deps: RankingBackgroundDeps): RankingBackground {
  const { database, clock, queue, log } = deps
  const { db, run, dialect } = database
  const store = vectorStoreOf(dialect)
  const lsa = createLsaEmbedder({
    place: placeOf(database),
    onError: (err) => log.error({ err }, 'the process that fits models failed'),
  })
  const vectors = createVectorJobs({ db, run, clock, queue, store, embedder: lsa })

  return {
    vectors,
    async open() {
      if (dialect.name === 'postgres') {
        await openPostgresVectors(database).catch((err: unknown) => {
          log.debug({ err }, 'pgvector could not be prepared')
        })
      }
      const reason = await store.missing(db)
      if (reason !== undefined) {
        log.warn({ reason }, 'search goes by words alone: vectors cannot be compared')
      }
    },
    missing: () => store.missing(db),
    [Symbol.asyncDispose]: () => lsa[Symbol.asyncDispose](),
  }
}

function placeOf({ file, url }: Database): DatabasePlace {
  if (file !== undefined) return { file }
  if (url !== undefined) return { url }
  throw new Error('A database has a file or an address')
}

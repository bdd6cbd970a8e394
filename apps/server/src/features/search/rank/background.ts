import type { Clock } from '../../../platform/clock.js'
import type { Database } from '../../../platform/db/open.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { createAddressRules } from '../../../platform/outgoing/address-rules.js'
import { createOutgoing } from '../../../platform/outgoing/outgoing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { createEndpoint } from '../embeddings/endpoint.js'
import { createEndpointEmbedder } from '../embeddings/endpoint-embedder.js'
import { createQuestionVectors, type QuestionVectors } from '../embeddings/question-vectors.js'
import { createLsaEmbedder } from '../lsa/lsa-embedder.js'
import type { DatabasePlace } from '../lsa/lsa-task.js'
import type { Embedder } from '../vectors/embedder.js'
import { vectorStoreOf } from '../vectors/engine-vectors.js'
import { createVectorJobs, type VectorJobs } from '../vectors/vector-jobs.js'

/** What ranking needs besides questions. */
export interface RankingBackground extends AsyncDisposable {
  /** To be told of passages that are written. */
  vectors: VectorJobs
  /** To be asked for the vector of a question before it is ranked. */
  questions: QuestionVectors
  /** Makes the database ready for vectors; says in the log if it cannot hold any. */
  open(): Promise<void>
  /** Why meaning is not searched, as a sentence; undefined if it is. */
  missing(): Promise<string | undefined>
}

/** An embeddings endpoint, as the operator named it. */
export interface EmbeddingsSettings {
  url: string
  model: string
  apiKey: string | undefined
}

export interface RankingBackgroundDeps {
  database: Database
  clock: Clock
  queue: Queue
  log: Log
  /** Undefined if meaning is learnt from the passages themselves. */
  embeddings: EmbeddingsSettings | undefined
}

/** Calls to the endpoint at a time, those for questions and those for passages together. */
const connections = 8

export function createRankingBackground(deps: RankingBackgroundDeps): RankingBackground {
  const { database, clock, queue, log } = deps
  const { db, run, dialect } = database
  const store = vectorStoreOf(dialect)
  const { embedder, questions, close } =
    deps.embeddings === undefined
      ? builtIn(deps)
      : byEndpoint(deps, deps.embeddings, (botId) => vectors.doubt(botId))
  const vectors: VectorJobs = createVectorJobs({ db, run, clock, queue, store, embedder })

  return {
    vectors,
    questions,
    async open() {
      await store.open(database).catch((err: unknown) => {
        log.debug({ err }, 'the database could not be prepared for vectors')
      })
      const reason = await store.missing(db)
      if (reason !== undefined) {
        log.warn({ reason }, 'search goes by words alone: vectors cannot be compared')
      }
    },
    missing: () => store.missing(db),
    [Symbol.asyncDispose]: close,
  }
}

interface Making {
  embedder: Embedder
  questions: QuestionVectors
  close(): Promise<void>
}

function builtIn({ database, log }: RankingBackgroundDeps): Making {
  const embedder = createLsaEmbedder({
    place: placeOf(database),
    onError: (err) => log.error({ err }, 'the process that fits models failed'),
  })
  return {
    embedder,
    questions: { of: async () => undefined },
    close: async () => await embedder[Symbol.asyncDispose](),
  }
}

function byEndpoint(
  deps: RankingBackgroundDeps,
  { url, model, apiKey }: EmbeddingsSettings,
  onOtherLength: (botId: string) => Promise<void>,
): Making {
  const { clock, log } = deps
  const { db } = deps.database
  // The operator named the address, so it may be any; redirects are not followed, and only the
  // endpoint itself gets the key.
  const rules = createAddressRules({ allowed: 'any', allowLoopback: true })
  const outgoing = createOutgoing({ rules, connectionsPerOrigin: connections })
  const endpoint = createEndpoint({ url, apiKey, outgoing })
  return {
    embedder: createEndpointEmbedder({
      db,
      endpoint,
      url,
      model,
      onRefused: (passage) => log.warn(passage, 'the embeddings endpoint refuses a passage'),
    }),
    questions: createQuestionVectors({ db, clock, log, endpoint, url, onOtherLength }),
    close: async () => await outgoing[Symbol.asyncDispose](),
  }
}

function placeOf({ file, url }: Database): DatabasePlace {
  if (file !== undefined) return { file }
  if (url !== undefined) return { url }
  throw new Error('A database has a file or an address')
}

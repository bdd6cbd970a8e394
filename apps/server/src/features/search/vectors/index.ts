import type { Clock } from '../../../platform/clock.js'
import type { Database } from '../../../platform/db/open.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { createAddressRules } from '../../../platform/outgoing/address-rules.js'
import { createOutgoing } from '../../../platform/outgoing/outgoing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Embedder } from './embedder.js'
import { createEndpoint } from './embeddings/endpoint.js'
import {
  createEndpointEmbedder,
  createQuestionVectors,
  type QuestionVectors,
} from './embeddings/endpoint-vectors.js'
import { createLsaEmbedder, type DatabaseAddress } from './lsa/lsa-embedder.js'
import { createVectorIndex } from './reading.js'
import { createVectorJobs, type VectorJobs } from './vector-jobs.js'

export type { QuestionVectors } from './embeddings/endpoint-vectors.js'
export { openPostgresVectors } from './postgres-vectors.js'
export type { VectorJobs } from './vector-jobs.js'

/** The vectors of passages and of questions, which search by meaning compares. */
export interface Vectors extends VectorJobs, AsyncDisposable {
  /** Returns the vector of a question, which is needed before ranking. */
  questions: QuestionVectors
  /** Prepares the database for vectors; logs a warning if it cannot store any. */
  open(): Promise<void>
  /** The reason why meaning is not searched, as a sentence; undefined if it is. */
  missing(): Promise<string | undefined>
}

/** The settings of an embeddings endpoint. */
export interface EmbeddingsSettings {
  url: string
  model: string
  apiKey: string | undefined
}

export interface VectorsDeps {
  database: Database
  clock: Clock
  queue: Queue
  log: Log
  /** Undefined for the built-in vectors. */
  embeddings?: EmbeddingsSettings | undefined
}

/** Concurrent calls to the endpoint, for questions and passages in total. */
const connections = 8

/** Makes the vectors by the embeddings endpoint if there is one, otherwise by LSA in a process of its own. */
export function createVectors(deps: VectorsDeps): Vectors {
  const { database, clock, queue, log } = deps
  const { db, run, dialect } = database
  const index = createVectorIndex(dialect)
  const { embedder, createQuestions, close } =
    deps.embeddings === undefined ? fittedToPassages(deps) : madeByEndpoint(deps, deps.embeddings)
  const jobs = createVectorJobs({ db, run, clock, queue, index, embedder })

  return {
    ...jobs,
    questions: createQuestions(jobs.markStale),
    async open() {
      await index.open(database).catch((err: unknown) => {
        log.debug({ err }, 'the database could not be prepared for vectors')
      })
      const reason = await index.missing(db)
      if (reason !== undefined) {
        log.warn({ reason }, 'search goes by words alone: vectors cannot be compared')
      }
    },
    missing: () => index.missing(db),
    [Symbol.asyncDispose]: close,
  }
}

/** A source of vectors, for passages and for questions. */
interface VectorSource {
  embedder: Embedder
  /** @param onOtherLength is called when the vector of a question does not fit those of the bot's passages */
  createQuestions(onOtherLength: (botId: string) => Promise<void>): QuestionVectors
  close(): Promise<void>
}

function fittedToPassages({ database, log }: VectorsDeps): VectorSource {
  const embedder = createLsaEmbedder({
    database: addressOf(database),
    onError: (err) => log.error({ err }, 'the process that fits models failed'),
  })
  return {
    embedder,
    createQuestions: () => ({ of: async () => undefined }),
    close: async () => await embedder[Symbol.asyncDispose](),
  }
}

function madeByEndpoint(
  { database: { db }, clock, log }: VectorsDeps,
  { url, model, apiKey }: EmbeddingsSettings,
): VectorSource {
  // The operator configured the address, so it may be any; redirects are not followed, and only the
  // endpoint itself receives the key.
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
    createQuestions: (onOtherLength) =>
      createQuestionVectors({ db, clock, log, endpoint, url, onOtherLength }),
    close: async () => await outgoing[Symbol.asyncDispose](),
  }
}

function addressOf({ file, url }: Database): DatabaseAddress {
  if (file !== undefined) return { file }
  if (url !== undefined) return { url }
  throw new Error('A database has a file or an address')
}

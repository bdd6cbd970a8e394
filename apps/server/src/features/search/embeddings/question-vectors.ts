import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { OtherLengthError } from '../vectors/embedder.js'
import { findServing } from '../vectors/space-store.js'
import type { Endpoint } from './endpoint.js'
import { modelOf } from './endpoint-embedder.js'

/** Vectors of questions, for bots whose passages have theirs from the endpoint. */
export interface QuestionVectors {
  /**
   * Answers undefined if the bot needs none, and also if the endpoint gives none: a search does
   * without then, and says so.
   */
  of(botId: string, question: string, signal?: AbortSignal): Promise<Float32Array | undefined>
}

/** Whoever asks waits for it, so the endpoint has little time, in milliseconds. */
const timeoutMs = 3000
/** After a failure nobody waits for the endpoint so long, in milliseconds. */
const restMs = 10_000
const remembered = 500

interface QuestionVectorsOptions {
  db: Db
  clock: Clock
  log: Log
  endpoint: Endpoint
  url: string
  /** Told when a question's vector has another length than those of the bot's passages. */
  onOtherLength(botId: string): Promise<void>
}

export function createQuestionVectors(options: QuestionVectorsOptions): QuestionVectors {
  const { db, clock, log, endpoint, url, onOtherLength } = options
  const vectors = new LRUCache<string, Float32Array>({ max: remembered })
  let restsUntil = 0

  return {
    async of(botId, question, signal) {
      const serving = await findServing(db, botId)
      // While vectors are made anew, the old model answers for the old ones.
      const model = serving && modelOf(serving.embedder, url)
      if (serving === undefined || model === undefined) return undefined
      const key = `${model}\n${serving.dimensions}\n${question}`
      const known = vectors.get(key)
      if (known !== undefined) return known
      if (clock.now() < restsUntil) return undefined
      try {
        const request = { model, texts: [question], timeoutMs, attempts: 1 }
        const [vector] = await endpoint.embed({ ...request, ...(signal && { signal }) })
        if (vector === undefined) return undefined
        if (vector.length !== serving.dimensions) {
          await onOtherLength(botId)
          throw new OtherLengthError(serving.dimensions, vector.length)
        }
        vectors.set(key, vector)
        return vector
      } catch (err) {
        if (signal?.aborted) throw err
        restsUntil = clock.now() + restMs
        log.warn({ err }, 'the embeddings endpoint gave no vector for a question')
        return undefined
      }
    },
  }
}

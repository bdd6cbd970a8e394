import type { Clock } from '../../../../platform/clock.js'
import type { Db } from '../../../../platform/db/schema.js'
import { createLruCache } from '../../../../platform/lru-cache.js'
import type { Log } from '../../../../platform/telemetry/log.js'
import { listNumbers, type PassageText, readPassageTexts } from '../../passage-text-store.js'
import { type EmbeddedPassage, type Embedder, OtherLengthError } from '../embedder.js'
import { findServing } from '../space-store.js'
import { EmbeddingsError, type Endpoint } from './endpoint.js'

interface EndpointEmbedderOptions {
  db: Db
  endpoint: Endpoint
  url: string
  model: string
  /** Called with passages that the endpoint refuses. */
  onRefused(passage: { botId: string; passageId: string; reason: string }): void
}

/** Texts of one call; with more, a failure would cost more. */
const batchSize = 32
/** UTF-16 units of a text: models use some hundred words, and some refuse longer texts. */
const maxTextLength = 6000
const shortestTried = 500
const passagesTimeoutMs = 60_000
const attempts = 6

/** Makes vectors by the endpoint of the settings. */
export function createEndpointEmbedder(options: EndpointEmbedderOptions): Embedder {
  const { db, endpoint, url, model, onRefused } = options

  async function embedTexts(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    return await endpoint.embed({ model, texts, timeoutMs: passagesTimeoutMs, attempts, signal })
  }

  /** A refused text must not block the others: it is found by halving the batch, and then shortened. */
  async function embedAll(
    botId: string,
    passages: readonly PassageText[],
    length: number,
    signal: AbortSignal,
  ): Promise<EmbeddedPassage[]> {
    const [only] = passages
    if (only === undefined) return []
    try {
      const vectors = await embedTexts(
        passages.map(({ text }) => text.slice(0, length) || ' '),
        signal,
      )
      return passages.flatMap(({ number, id }, at) => {
        const vector = vectors[at]
        return vector === undefined ? [] : [{ number, id, vector }]
      })
    } catch (error) {
      if (!(error instanceof EmbeddingsError && error.isRefusal)) throw error
      if (passages.length > 1) {
        const middle = Math.ceil(passages.length / 2)
        const left = await embedAll(botId, passages.slice(0, middle), length, signal)
        return [...left, ...(await embedAll(botId, passages.slice(middle), length, signal))]
      }
      if (length > shortestTried) return await embedAll(botId, passages, length / 2, signal)
      onRefused({ botId, passageId: only.id, reason: error.message })
      return []
    }
  }

  return {
    id: endpointId(url, model),
    minPassages: 1,
    isFitted: false,
    async prepare(botId, signal) {
      const numbers = await listNumbers(db, botId, -1, 1)
      const [first] = await readPassageTexts(db, botId, numbers)
      const [vector] = await embedTexts(
        [first?.text.slice(0, shortestTried) || 'dimensions'],
        signal,
      )
      return { dimensions: vector?.length ?? 0, model: null }
    },
    async embed(botId, { dimensions }, numbers, signal) {
      const passages = await readPassageTexts(db, botId, numbers)
      const made: EmbeddedPassage[] = []
      for (let start = 0; start < passages.length; start += batchSize) {
        const batch = passages.slice(start, start + batchSize)
        made.push(...(await embedAll(botId, batch, maxTextLength, signal)))
      }
      const wrong = made.find(({ vector }) => vector.length !== dimensions)
      if (wrong !== undefined) {
        throw new OtherLengthError(dimensions, wrong.vector.length)
      }
      return made
    },
  }
}

const prefix = 'endpoint'

/** The id of the embedder of an endpoint. */
function endpointId(url: string, model: string): string {
  return `${prefix} ${url} ${model}`
}

/** The model in an embedder id, if it belongs to this endpoint. */
function modelOf(embedder: string, url: string): string | undefined {
  const start = endpointId(url, '')
  return embedder.startsWith(start) ? embedder.slice(start.length) : undefined
}

/** Vectors of questions, for bots whose vectors of passages are from the endpoint. */
export interface QuestionVectors {
  /**
   * Returns undefined if the bot needs none, and also if the endpoint returns none: the search then continues
   * without it and is marked as degraded.
   */
  of(botId: string, question: string, signal?: AbortSignal): Promise<Float32Array | undefined>
}

/** The caller waits for it, so the endpoint has little time, in milliseconds. */
const questionTimeoutMs = 3000
/** Milliseconds after a failure without further calls to the endpoint. */
const pauseMs = 10_000
const remembered = 500

interface QuestionVectorsOptions {
  db: Db
  clock: Clock
  log: Log
  endpoint: Endpoint
  url: string
  /** Called when a question's vector has another length than those of the bot's passages. */
  onOtherLength(botId: string): Promise<void>
}

/**
 * Makes the vectors of questions by calls to the endpoint, and caches the last 500. After a failure
 * there is no call for 10 s.
 */
export function createQuestionVectors(options: QuestionVectorsOptions): QuestionVectors {
  const { db, clock, log, endpoint, url, onOtherLength } = options
  const vectors = createLruCache<string, Float32Array>(remembered)
  let pausedUntil = 0

  return {
    async of(botId, question, signal) {
      const serving = await findServing(db, botId)
      // While vectors are made again, vectors of questions use the former model.
      const model = serving && modelOf(serving.embedder, url)
      if (serving === undefined || model === undefined) return undefined
      const key = `${model}\n${serving.dimensions}\n${question}`
      const known = vectors.get(key)
      if (known !== undefined) return known
      if (clock.now() < pausedUntil) return undefined
      try {
        const request = { model, texts: [question], timeoutMs: questionTimeoutMs, attempts: 1 }
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
        pausedUntil = clock.now() + pauseMs
        log.warn({ err }, 'the embeddings endpoint gave no vector for a question')
        return undefined
      }
    },
  }
}

import type { Db } from '../../../platform/db/schema.js'
import { type EmbeddedPassage, type Embedder, OtherLengthError } from '../vectors/embedder.js'
import { listNumbers, type PassageText, readPassageTexts } from '../vectors/passage-text-store.js'
import { EmbeddingsError, type Endpoint } from './endpoint.js'

interface EndpointEmbedderOptions {
  db: Db
  endpoint: Endpoint
  url: string
  model: string
  /** Told of passages that the endpoint does not take. */
  onRefused(passage: { botId: string; passageId: string; reason: string }): void
}

/** Texts of one call; more at once only makes a failure cost more. */
const batchSize = 32
/** UTF-16 units of a text: models look at some hundred words, and some refuse more than they can read. */
const longestText = 6000
const shortestTried = 500
const timeoutMs = 60_000
const attempts = 6

/** Vectors of the endpoint that the settings name. */
export function createEndpointEmbedder(options: EndpointEmbedderOptions): Embedder {
  const { db, endpoint, url, model, onRefused } = options

  async function ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    return await endpoint.embed({ model, texts, timeoutMs, attempts, signal })
  }

  /** One text that is refused must not hold up the others: it is found by halving, and shortened. */
  async function embedAll(
    botId: string,
    passages: readonly PassageText[],
    length: number,
    signal: AbortSignal,
  ): Promise<EmbeddedPassage[]> {
    const [only] = passages
    if (only === undefined) return []
    try {
      const vectors = await ask(
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
    fewestPassages: 1,
    isFitted: false,
    async prepare(botId, signal) {
      const numbers = await listNumbers(db, botId, -1, 1)
      const [first] = await readPassageTexts(db, botId, numbers)
      const [vector] = await ask([first?.text.slice(0, shortestTried) || 'dimensions'], signal)
      return { dimensions: vector?.length ?? 0, model: null }
    },
    async embed(botId, { dimensions }, numbers, signal) {
      const passages = await readPassageTexts(db, botId, numbers)
      const made: EmbeddedPassage[] = []
      for (let start = 0; start < passages.length; start += batchSize) {
        const batch = passages.slice(start, start + batchSize)
        made.push(...(await embedAll(botId, batch, longestText, signal)))
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

/** What vectors of an endpoint are known by. */
function endpointId(url: string, model: string): string {
  return `${prefix} ${url} ${model}`
}

/** The model behind such a name, if it is one of this endpoint. */
export function modelOf(embedder: string, url: string): string | undefined {
  const start = endpointId(url, '')
  return embedder.startsWith(start) ? embedder.slice(start.length) : undefined
}

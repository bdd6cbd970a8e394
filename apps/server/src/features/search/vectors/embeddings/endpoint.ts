import { setTimeout as sleep } from 'node:timers/promises'
import { exceededBound } from '../../../../platform/json-bounds.js'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingResponse,
} from '../../../../platform/outgoing/outgoing.js'

/** An embeddings endpoint with the protocol of OpenAI. */
export interface EndpointOptions {
  /** Base address of `/embeddings`, with or without `/v1`. */
  url: string
  apiKey: string | undefined
  outgoing: Outgoing
  /** Waits between attempts; replaced in tests. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

interface EmbedRequest {
  model: string
  texts: readonly string[]
  /** Milliseconds that one call may take. */
  timeoutMs: number
  /** Maximum number of calls, from 1. */
  attempts: number
  signal?: AbortSignal
}

/** The endpoint returned no vectors. */
export class EmbeddingsError extends Error {
  override readonly name = 'EmbeddingsError'
  /** Whether the texts themselves were refused, so that a retry is useless. */
  readonly isRefusal: boolean

  constructor(message: string, options: ErrorOptions & { isRefusal?: boolean } = {}) {
    super(message, options)
    this.isRefusal = options.isRefusal ?? false
  }
}

/** Calls an embeddings endpoint. */
export interface Endpoint {
  /**
   * The vectors of texts, in their order, each of length 1.
   * @throws EmbeddingsError
   */
  embed(request: EmbedRequest): Promise<Float32Array[]>
}

const maxDimensions = 16_000
/** Bytes of the response beside the vectors. */
const otherBytes = 64 * 1024
/** Bytes of a number in JSON with its comma: 17 digits, a sign, a dot, an exponent. */
const numberBytes = 32
/** Values of the response for a text beside its numbers, and for the whole call. */
const otherValues = 100
/** Maximum pause that an endpoint may request, and between attempts, in milliseconds. */
const maxPauseMs = 60_000
const firstPause = 500

/** The response of the endpoint, or why there is none. */
type Outcome = OutgoingResponse | OutgoingError

/**
 * Makes the client of an OpenAI-compatible embeddings endpoint. It repeats calls that fail for a
 * moment, after the pause that the endpoint requests or a growing one, at most a minute.
 */
export function createEndpoint({ url, apiKey, outgoing, pause = wait }: EndpointOptions): Endpoint {
  const address = addressOf(url)

  async function call({ model, texts, timeoutMs, signal }: EmbedRequest): Promise<Outcome> {
    return await outgoing
      .send(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        timeoutMs,
        // A longer response contains other data than the vectors of these texts.
        maxResponseBytes: texts.length * maxDimensions * numberBytes + otherBytes,
        ...(signal && { signal }),
      })
      .catch((error: unknown) => {
        if (error instanceof OutgoingError) return error
        throw error
      })
  }

  return {
    async embed(request) {
      for (let attempt = 1; ; attempt++) {
        const outcome = await call(request)
        if (!(outcome instanceof Error) && outcome.status === 200) {
          return readVectors(outcome, request.texts.length)
        }
        const error = toError(outcome)
        if (error.isRefusal || !isPassing(outcome) || attempt >= request.attempts) throw error
        await pause(pauseAfter(outcome, attempt), request.signal)
      }
    },
  }
}

function addressOf(url: string): string {
  const base = url.replace(/\/+$/, '')
  if (base.endsWith('/embeddings')) return base
  return /\/v\d+$/.test(base) ? `${base}/embeddings` : `${base}/v1/embeddings`
}

/** Whether a retry of the call may succeed. */
function isPassing(outcome: Outcome): boolean {
  if (outcome instanceof Error) return outcome.failure !== 'refused'
  return outcome.status === 408 || outcome.status === 429 || outcome.status >= 500
}

/** The pause that the endpoint requests; otherwise twice as long each time, with jitter. */
function pauseAfter(outcome: Outcome, attempt: number): number {
  const requested = outcome instanceof Error ? undefined : retryAfter(outcome)
  const growing = firstPause * 2 ** (attempt - 1) * (0.5 + Math.random())
  return Math.min(maxPauseMs, requested ?? growing)
}

function retryAfter({ headers }: OutgoingResponse): number | undefined {
  const given = headers['retry-after']
  if (typeof given !== 'string') return undefined
  const seconds = Number(given)
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(given) - Date.now()
  return milliseconds >= 0 ? milliseconds : undefined
}

/** The message is for the log and contains the response of the endpoint, which does not contain the key. */
function toError(outcome: Outcome): EmbeddingsError {
  if (outcome instanceof Error) return new EmbeddingsError(outcome.message, { cause: outcome })
  const text = outcome.body.toString('utf8', 0, 300)
  return new EmbeddingsError(`The embeddings endpoint returned status ${outcome.status}: ${text}`, {
    isRefusal: [400, 413, 422].includes(outcome.status),
  })
}

function readVectors(response: OutgoingResponse, amount: number): Float32Array[] {
  const vectors = new Map<number, Float32Array>()
  for (const { index, embedding } of readData(response, amount)) {
    // As a place in a list, 4 billion would make it that long.
    if (!(Number.isInteger(index) && index >= 0 && index < amount) || vectors.has(index)) {
      throw new EmbeddingsError(
        `The embeddings endpoint returned a vector for a text that it was not given (index ${index})`,
      )
    }
    vectors.set(index, toVector(embedding))
  }
  const whole = Array.from({ length: amount }, (_, at) => vectors.get(at)).flatMap(
    (vector) => vector ?? [],
  )
  const [first] = whole
  if (whole.length !== amount || first === undefined) {
    throw new EmbeddingsError(
      `The embeddings endpoint returned ${whole.length} of ${amount} vectors`,
    )
  }
  if (whole.some(({ length }) => length !== first.length)) {
    throw new EmbeddingsError('The embeddings endpoint returned vectors of different lengths')
  }
  return whole
}

function readData(
  { body, cut }: OutgoingResponse,
  amount: number,
): { index: number; embedding: unknown }[] {
  const text = body.toString('utf8')
  const values = amount * (maxDimensions + otherValues) + otherValues
  if (cut || exceededBound(text, { values }) !== undefined) {
    throw new EmbeddingsError('The response of the embeddings endpoint is too long')
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (cause) {
    throw new EmbeddingsError('The embeddings endpoint returned no JSON', { cause })
  }
  const data: unknown = property(content, 'data')
  if (!Array.isArray(data)) throw new EmbeddingsError('The embeddings endpoint returned no "data"')
  return data.map((each: unknown, at) => {
    const index = property(each, 'index')
    return { index: typeof index === 'number' ? index : at, embedding: property(each, 'embedding') }
  })
}

function toVector(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > maxDimensions) {
    throw new EmbeddingsError('The embeddings endpoint returned something that is no vector')
  }
  if (!embedding.every((value) => typeof value === 'number')) {
    throw new EmbeddingsError(
      'The embeddings endpoint returned a vector with values that are not numbers',
    )
  }
  const vector = Float32Array.from(embedding)
  const length = Math.hypot(...vector)
  if (!Number.isFinite(length) || length === 0) {
    throw new EmbeddingsError('The embeddings endpoint returned a vector of length 0')
  }
  return vector.map((value) => value / length)
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal && { signal })
}

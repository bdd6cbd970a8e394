import { createWorkerPool } from '../../../../platform/workers/worker-pool.js'
import type { Embedder } from '../embedder.js'
import { lsaEmbedder } from './model.js'

/** With more passages, a sample of this size shows the use of words as well. */
const maxFitted = 20_000
/** A space with fewer passages would mostly reflect chance. */
const minPassages = 40

/** The database with the passages. */
export type DatabaseAddress = { file: string } | { url: string }

/** Fits a model to the passages of a bot. */
export interface FitTask {
  kind: 'fit'
  database: DatabaseAddress
  botId: string
  /** Maximum number of passages that are used; a sample of more. */
  maxPassages: number
}

/** Makes vectors of passages with the model of a space. */
export interface EmbedTask {
  kind: 'embed'
  database: DatabaseAddress
  botId: string
  space: number
  numbers: readonly number[]
}

/** The result of `encodeModel` in Base64. */
export interface Fitted {
  model: string
  dimensions: number
}

/** The vectors of some passages. */
export interface Embedded {
  passages: { number: number; id: string }[]
  /** Base64 of the concatenated vectors, numbers of single precision in the byte order of this machine. */
  vectors: string
}

export type LsaTask = FitTask | EmbedTask
export type LsaResult = Fitted | Embedded

interface LsaEmbedderOptions {
  database: DatabaseAddress
  onError(error: Error): void
}

/** The built-in embedder, which needs no download and no network. */
export function createLsaEmbedder({
  database,
  onError,
}: LsaEmbedderOptions): Embedder & AsyncDisposable {
  const pool = createWorkerPool<FitTask | EmbedTask, Fitted | Embedded>({
    entry: new URL('./lsa-worker.js', import.meta.url),
    workers: 1,
    maxQueue: 100,
    timeLimitMs: 300_000,
    memoryLimitMb: 1024,
    maxOutputBytes: 32 * 1024 * 1024,
    idleTimeoutMs: 10_000,
    onError,
  })
  return {
    id: lsaEmbedder,
    minPassages,
    isFitted: true,
    async prepare(botId, signal) {
      const task: FitTask = { kind: 'fit', database, botId, maxPassages: maxFitted }
      const result = await pool.run(task, { signal })
      if (!('model' in result)) throw new TypeError('A fit returns a model')
      return { dimensions: result.dimensions, model: Buffer.from(result.model, 'base64') }
    },
    async embed(botId, { number: space, dimensions }, numbers, signal) {
      const task: EmbedTask = { kind: 'embed', database, botId, space, numbers }
      const result = await pool.run(task, { signal })
      if (!('vectors' in result)) throw new TypeError('Embedding returns vectors')
      const all = toFloats(result.vectors)
      return result.passages.map((passage, at) => ({
        ...passage,
        vector: all.subarray(at * dimensions, (at + 1) * dimensions),
      }))
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

function toFloats(base64: string): Float32Array {
  // Copied, because a buffer may begin at any byte and floats may not.
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return new Float32Array(bytes.buffer)
}

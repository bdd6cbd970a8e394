/** A passage with its vector. */
export interface EmbeddedPassage {
  number: number
  /** UUID of the passage that the vector was made of. */
  id: string
  /** Of length 1. */
  vector: Float32Array
}

/** A way to make vectors of the passages of bots. */
export interface Embedder {
  /** Names the way and its version; vectors under different names cannot be compared. */
  readonly id: string
  /** With fewer passages, a bot has no vectors; from 1. */
  readonly fewestPassages: number
  /** Whether the vectors depend on the passages, so that they are made anew when those change much. */
  readonly isFitted: boolean
  /** Learns what a space for the passages of a bot needs. */
  prepare(botId: string, signal: AbortSignal): Promise<PreparedSpace>
  /**
   * Makes vectors; passages that are gone, or that cannot have one, are left out.
   * @throws OtherLengthError if they do not fit into the space
   */
  embed(
    botId: string,
    space: { number: number; dimensions: number },
    numbers: readonly number[],
    signal: AbortSignal,
  ): Promise<EmbeddedPassage[]>
}

interface PreparedSpace {
  dimensions: number
  model: Uint8Array | null
}

/** The way makes vectors of another length than it did for a space. */
export class OtherLengthError extends Error {
  override readonly name = 'OtherLengthError'
  /** Numbers of the vectors of the space. */
  readonly expected: number

  constructor(expected: number, found: number) {
    super(`The embeddings endpoint gave vectors of ${found} numbers, and ${expected} before`)
    this.expected = expected
  }
}

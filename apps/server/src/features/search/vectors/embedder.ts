/** A passage with its vector. */
export interface EmbeddedPassage {
  number: number
  /** UUID of the passage of the vector. */
  id: string
  /** Of length 1. */
  vector: Float32Array
}

/** A method of making vectors of the passages of bots. */
export interface Embedder {
  /** Identifies the method and its version; vectors with different ids cannot be compared. */
  readonly id: string
  /** With fewer passages, a bot has no vectors; from 1. */
  readonly minPassages: number
  /** Whether the vectors depend on all passages, so that they are made again when those change much. */
  readonly isFitted: boolean
  /** Prepares the data that a space for the passages of a bot requires. */
  prepare(botId: string, signal: AbortSignal): Promise<PreparedSpace>
  /**
   * Makes vectors; passages that were deleted, or that cannot have a vector, are omitted.
   * @throws OtherLengthError if the vectors do not fit into the space
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

/** The embedder makes vectors of another length than those of a space. */
export class OtherLengthError extends Error {
  override readonly name = 'OtherLengthError'
  /** Length of the vectors of the space. */
  readonly expected: number

  constructor(expected: number, found: number) {
    super(`The embeddings endpoint returned vectors of ${found} numbers, and ${expected} before`)
    this.expected = expected
  }
}

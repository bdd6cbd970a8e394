/** Where the passages are. */
export type DatabasePlace = { file: string } | { url: string }

/** Fits a model to the passages of a bot. */
export interface FitTask {
  kind: 'fit'
  place: DatabasePlace
  botId: string
  /** Passages that are looked at, at most; of more, a sample. */
  maximumPassages: number
}

/** Makes vectors of passages by the model of a space. */
export interface EmbedTask {
  kind: 'embed'
  place: DatabasePlace
  botId: string
  space: number
  numbers: readonly number[]
}

/** Base64 of what `encodeModel` makes. */
export interface Fitted {
  model: string
  dimensions: number
}

export interface Embedded {
  passages: { number: number; id: string }[]
  /** Base64 of one vector after the other, numbers of single precision in the order of this machine. */
  vectors: string
}

export type LsaTask = FitTask | EmbedTask
export type LsaAnswer = Fitted | Embedded
